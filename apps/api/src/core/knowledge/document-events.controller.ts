import { Access, type Caller } from '@app/access';
import { COORDINATION_STORE, type CoordinationStore } from '@app/coordination';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import {
  Answers,
  AnswersAs,
  CurrentCaller,
  Documented,
  resumePoint,
  reached,
  Reads,
  Rejects,
  Requires,
  VIEW_WAITER,
  type ViewWaiter,
} from '@app/http';
import { Decisions } from '@app/kernel';
import { documentDecider, isSearchedBy, readProgress } from '@app/knowledge';
import { FindDocument } from '@projections/documents';
import { Controller, Get, Headers, Inject, Param, Res, StreamableFile } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiHeader, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { documentEvents } from './document-events';
import { DocumentPresenter } from './document-presenter';

@Documented('Documents')
@Controller('/api/v1/core/knowledge/:agentId/documents')
export class DocumentEventsController {
  constructor(
    private readonly queries: QueryBus,
    private readonly access: Access,
    private readonly presenter: DocumentPresenter,
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(COORDINATION_STORE) private readonly coordination: CoordinationStore,
    @Inject(VIEW_WAITER) private readonly views: ViewWaiter,
  ) {}

  @Get('events')
  @Requires('knowledge:read')
  @ApiOperation({
    operationId: 'streamDocumentEvents',
    summary:
      'Streams changes of documents as Server-Sent Events: `document`, `deleted` and `progress`; and `restored` when the log was restored from an older backup. Then list the documents again. Continues after `last-event-id`.',
  })
  @ApiHeader({ name: 'last-event-id', description: 'The id of the last event that was received.' })
  @Answers(200)
  @Rejects('invalid_parameter')
  @AnswersAs('text/event-stream')
  @Reads()
  async events(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const searching = await this.access.agent(caller, agentId, 'use');
    const from = lastEventId === undefined ? undefined : await resumePoint(this.log, lastEventId, 'last-event-id');
    reply.request.mayGoOn = (now) => this.access.agent(now, agentId, 'use');
    const show = async (documentId: string) => {
      // Asked anew for every event: access may have ended since.
      const agent = await this.access.agent(caller, agentId, 'use');
      const row = await this.queries.execute(new FindDocument(agent, documentId));
      return row === undefined
        ? undefined
        : { json: await this.presenter.one(agent, row), running: row.status === 'Processing' };
    };
    const wasShown = async (documentId: string) => {
      const { state } = await this.decisions.load(documentDecider, documentId);
      return state.status === 'Deleted' && isSearchedBy(searching, state);
    };
    const progress = async (documentId: string) => {
      const current = await readProgress(this.coordination, documentId);
      return current === undefined ? undefined : JSON.stringify(current);
    };
    const viewReached = (position: string) => reached(this.views, ['documents'], position);
    void reply.header('x-accel-buffering', 'no');
    const following = await documentEvents({ log: this.log, from, viewReached, show, wasShown, progress });
    return new StreamableFile(following, { type: 'text/event-stream; charset=utf-8' });
  }
}
