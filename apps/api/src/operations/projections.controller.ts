import { type OperatorAction, operatorActions } from '@app/auditing';
import {
  Accepts,
  Answers,
  BodyInput,
  CommandContext,
  Documented,
  type Input,
  listOf,
  Reads,
  Rejects,
  Requires,
} from '@app/http';
import { type CommandMeta, Decisions } from '@app/kernel';
import { Projecting, type ProjectionStatus } from '@app/projecting';
import { Controller, Get, Param, Post } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { z } from 'zod';
import { projectionSchema } from './operations-schemas';

const rebuildBody = z.strictObject({
  swap: z.boolean().default(false).describe('Swaps in the new version once it is verified to be equal.'),
});

type ViewAction = Extract<OperatorAction, { data: { projection: string } }>['type'];
type Rebuild = ReturnType<Projecting['rebuild']>;

@Documented('Operations')
@Controller('api/v1/operations/projections')
export class ProjectionsController {
  constructor(
    private readonly projecting: Projecting,
    private readonly decisions: Decisions,
  ) {}

  @Get()
  @Requires('operations')
  @ApiOperation({
    operationId: 'listProjections',
    summary: 'Lists every view with its version, state, lag, rows, dead letters and rebuild.',
  })
  @Answers(200, listOf(projectionSchema))
  @Reads()
  async all(): Promise<{ items: readonly ProjectionStatus[]; nextCursor: null }> {
    return { items: await this.projecting.status(), nextCursor: null };
  }

  @Get(':name')
  @Requires('operations')
  @ApiOperation({ operationId: 'getProjection', summary: 'Reads the state of a view.' })
  @Answers(200, projectionSchema)
  @Reads()
  one(@Param('name') name: string): Promise<ProjectionStatus> {
    return this.projecting.status(name);
  }

  @Post(':name/rebuild')
  @Requires('operations')
  @ApiOperation({
    operationId: 'rebuildProjection',
    summary: 'Rebuilds a view beside the live version. With `swap`, swaps it in once it is verified to be equal.',
  })
  @Accepts({ required: false })
  @Answers(202, projectionSchema)
  @Rejects('rebuild_exists')
  async rebuild(
    @Param('name') name: string,
    @BodyInput(rebuildBody) body: Input<typeof rebuildBody>,
    @CommandContext() meta: CommandMeta,
  ): Promise<ProjectionStatus> {
    await this.projecting.status(name);
    const { swap } = body.parse({});
    return this.act('ViewRebuildRequested', name, meta, (rebuild) => rebuild.start({ swap }));
  }

  @Post(':name/rebuild/pause')
  @Requires('operations')
  @ApiOperation({ operationId: 'pauseRebuild', summary: 'Pauses a rebuild and keeps what was built.' })
  @Answers(200, projectionSchema)
  @Rejects('no_rebuild', 'rebuild_not_ready')
  pause(@Param('name') name: string, @CommandContext() meta: CommandMeta): Promise<ProjectionStatus> {
    return this.act('ViewRebuildPauseRequested', name, meta, (rebuild) => rebuild.pause());
  }

  @Post(':name/rebuild/resume')
  @Requires('operations')
  @ApiOperation({ operationId: 'resumeRebuild', summary: 'Resumes a paused or failed rebuild.' })
  @Answers(200, projectionSchema)
  @Rejects('no_rebuild', 'rebuild_not_ready')
  resume(@Param('name') name: string, @CommandContext() meta: CommandMeta): Promise<ProjectionStatus> {
    return this.act('ViewRebuildResumeRequested', name, meta, (rebuild) => rebuild.resume());
  }

  @Post(':name/rebuild/cancel')
  @Requires('operations')
  @ApiOperation({ operationId: 'cancelRebuild', summary: 'Cancels a rebuild and deletes what it built.' })
  @Answers(200, projectionSchema)
  @Rejects('no_rebuild', 'rebuild_not_ready')
  cancel(@Param('name') name: string, @CommandContext() meta: CommandMeta): Promise<ProjectionStatus> {
    return this.act('ViewRebuildCancelRequested', name, meta, (rebuild) => rebuild.cancel());
  }

  @Post(':name/swap')
  @Requires('operations')
  @ApiOperation({
    operationId: 'swapProjection',
    summary: 'Swaps in the rebuilt version of a view. The previous one is kept and keeps following the log.',
  })
  @Answers(200, projectionSchema)
  @Rejects('no_rebuild', 'rebuild_not_ready')
  swap(@Param('name') name: string, @CommandContext() meta: CommandMeta): Promise<ProjectionStatus> {
    return this.act('ViewSwapRequested', name, meta, (rebuild) => rebuild.swap());
  }

  @Post(':name/rollback')
  @Requires('operations')
  @ApiOperation({ operationId: 'rollBackProjection', summary: 'Rolls back to the previous version of a view.' })
  @Answers(200, projectionSchema)
  @Rejects('no_rebuild', 'rebuild_not_ready')
  rollback(@Param('name') name: string, @CommandContext() meta: CommandMeta): Promise<ProjectionStatus> {
    return this.act('ViewRollbackRequested', name, meta, (rebuild) => rebuild.rollback());
  }

  @Post(':name/retire')
  @Requires('operations')
  @ApiOperation({
    operationId: 'retireProjection',
    summary: 'Retires the version that is no longer served: deletes it permanently.',
  })
  @Answers(200, projectionSchema)
  @Rejects('no_rebuild', 'rebuild_not_ready')
  retire(@Param('name') name: string, @CommandContext() meta: CommandMeta): Promise<ProjectionStatus> {
    return this.act('ViewRetireRequested', name, meta, (rebuild) => rebuild.retire());
  }

  /** An unknown view is rejected before anything is recorded; what is recorded is then done. */
  private async act(
    type: ViewAction,
    name: string,
    meta: CommandMeta,
    action: (rebuild: Rebuild) => Promise<void>,
  ): Promise<ProjectionStatus> {
    const rebuild = this.projecting.rebuild(name);
    await this.decisions.transact(operatorActions, name, { type, data: { projection: name } }, meta);
    await action(rebuild);
    return this.projecting.status(name);
  }
}
