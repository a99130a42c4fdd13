import { type Caller, KeyGrants } from '@app/access';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import {
  Accepts,
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  InvalidInput,
  JsonText,
  listOf,
  Lists,
  QueryInput,
  reached,
  Reads,
  Rejects,
  Requires,
  type Tagged,
  tagged,
  Writes,
  VIEW_WAITER,
  type ViewWaiter,
} from '@app/http';
import { type CommandMeta, decimalAmount, givenFields, reject } from '@app/kernel';
import { type AppliedLimit, type LimitScope, Limits } from '@app/spending';
import { type InvocationFilter, ListInvocations } from '@projections/invocations';
import { ListLimits } from '@projections/limits';
import { Controller, Delete, Get, Inject, Param, Post, Put, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { invocationView } from '../usage/usage-schemas';
import {
  explained,
  explainQuery,
  limitUpdate,
  limitPlace,
  limitsQuery,
  limitView,
  newLimit,
} from './cost-control-schemas';
import { LimitChanges } from './limit-changes';
import { ShownLimits } from './shown-limits';

const PATH = '/api/v1/core/cost-control';
/** A limit of an API key is shown in the key, too. */
const VIEWS = ['limits', 'api-keys'];

/** Spend limits: what they say, where they stand, and why. */
@Documented('Spend limits')
@Controller(PATH)
export class CostControlController {
  constructor(
    private readonly limits: Limits,
    private readonly changes: LimitChanges,
    private readonly shown: ShownLimits,
    private readonly keys: KeyGrants,
    private readonly queries: QueryBus,
    private readonly lists: Lists,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    private readonly writes: Writes,
    @Inject(VIEW_WAITER) private readonly views: ViewWaiter,
  ) {}

  @Get()
  @Requires('usage:read')
  @ApiOperation({
    operationId: 'listSpendLimits',
    summary: 'Lists spend limits with their balance, newest first: your own and those of your keys, or all for admins.',
  })
  @Answers(200, listOf(limitView.schema))
  @Reads('limits')
  async list(
    @CurrentCaller() caller: Caller,
    @QueryInput(limitsQuery) query: Input<typeof limitsQuery>,
  ): Promise<JsonText> {
    const asked = query.parse();
    const { rows, next } = await this.queries.execute(
      new ListLimits(caller.role === 'admin' ? undefined : caller.userId, this.lists.page('limits', caller, asked)),
    );
    // The view may show one that was removed a moment ago.
    const state = await Promise.all(rows.map(async ({ key }) => this.limits.find(key)));
    const items = await Promise.all(state.map(async (limit) => (limit === undefined ? [] : [await this.text(limit)])));
    return this.lists.answer('limits', caller, asked, items.flat(), next);
  }

  @Post()
  @Requires('cost:write')
  @ApiOperation({
    operationId: 'createSpendLimit',
    summary: 'Creates a spend limit for the instance, a Space, an Agent, a user or an API key.',
  })
  @Answers(201, limitView.schema)
  @Rejects('not_found', 'agent_not_granted')
  async create(
    @CurrentCaller() caller: Caller,
    @BodyInput(newLimit) body: Input<typeof newLimit>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { limitId, receipt } = await this.changes.add(caller, body.parse(), meta);
    return this.writes.answer(reply, receipt, {
      views: VIEWS,
      show: () => this.shownAfter(limitId, reply),
      location: `${PATH}/${limitId}`,
    });
  }

  @Get(':limitId')
  @Requires('usage:read')
  @ApiOperation({
    operationId: 'getSpendLimit',
    summary: 'Reads a spend limit, with the amounts spent and reserved in its window.',
  })
  @Answers(200, limitView.schema)
  @Reads()
  async read(@CurrentCaller() caller: Caller, @Param('limitId') limitId: string): Promise<Tagged> {
    await this.visible(caller, limitId);
    return this.show(limitId);
  }

  @Get(':limitId/explain')
  @Requires('usage:read')
  @ApiOperation({
    operationId: 'explainSpendLimit',
    summary:
      'Explains a spend limit: the amount reserved, and the model calls that were charged to its window, newest first.',
  })
  @Answers(200, explained)
  @Reads()
  async explain(
    @CurrentCaller() caller: Caller,
    @Param('limitId') limitId: string,
    @QueryInput(explainQuery) query: Input<typeof explainQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText> {
    const asked = query.parse();
    const limit = await this.visible(caller, limitId);
    const { shown, state } = await this.shown.show(limit);
    const head = await this.log.head();
    if (head !== null && !(await reached(this.views, ['invocations'], head))) reply.header('x-view-late', 'true');
    const list = `explain/${limitId}`;
    const wanted = { filters: [filterOf(limit.scope)], from: state.start ?? '' };
    const { rows, next } = await this.queries.execute(
      new ListInvocations(wanted, this.lists.page(list, caller, asked)),
    );
    const holds = [...state.holds].map(([invocationId, { amount, window }]) => ({
      invocationId,
      amount: decimalAmount(amount),
      windowStart: window,
    }));
    return this.lists
      .answer(
        list,
        caller,
        asked,
        rows.map(({ row }) => invocationView(row)),
        next,
      )
      .with({ limit: shown, holds });
  }

  @Put(':limitId')
  @Requires('cost:write')
  @ApiOperation({
    operationId: 'updateSpendLimit',
    summary: 'Updates a spend limit. Absent fields do not change. A new window or time zone recounts what was spent.',
  })
  @Answers(200, limitView.schema)
  update(
    @CurrentCaller() caller: Caller,
    @Param('limitId') limitId: string,
    @BodyInput(limitUpdate) body: Input<typeof limitUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.changed(caller, limitId, body.parse(), meta, reply);
  }

  @Put()
  @Requires('cost:write')
  @ApiOperation({
    operationId: 'updateSpendLimitById',
    summary: 'Updates the spend limit that `id` names, in the body or the query.',
  })
  @Answers(200, limitView.schema)
  @Rejects('not_found')
  updateNamed(
    @CurrentCaller() caller: Caller,
    @QueryInput(limitPlace) query: Input<typeof limitPlace>,
    @BodyInput(limitUpdate) body: Input<typeof limitUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const given = body.parse();
    return this.changed(caller, named(query.parse(), given), given, meta, reply);
  }

  @Delete(':limitId')
  @Requires('cost:write')
  @ApiOperation({ operationId: 'deleteSpendLimit', summary: 'Deletes a spend limit.' })
  @Answers(204)
  async delete(
    @CurrentCaller() caller: Caller,
    @Param('limitId') limitId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.writes.answer(reply, await this.changes.remove(caller, await this.visible(caller, limitId), meta), {
      views: VIEWS,
    });
  }

  @Delete()
  @Requires('cost:write')
  @ApiOperation({
    operationId: 'deleteSpendLimitById',
    summary: 'Deletes the spend limit that `id` names, in the body or the query.',
  })
  @Accepts({ required: false })
  @Answers(204)
  @Rejects('not_found')
  deleteNamed(
    @CurrentCaller() caller: Caller,
    @QueryInput(limitPlace) query: Input<typeof limitPlace>,
    @BodyInput(limitPlace) body: Input<typeof limitPlace>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.delete(caller, named(query.parse(), body.parse({})), meta, reply);
  }

  private async changed(
    caller: Caller,
    limitId: string,
    { id, ...change }: ReturnType<typeof limitUpdate.parse>,
    meta: CommandMeta,
    reply: FastifyReply,
  ) {
    if (id !== undefined && id !== limitId) throw mismatch('the path');
    const receipt = await this.changes.change(caller, await this.visible(caller, limitId), givenFields(change), meta);
    return this.writes.answer(reply, receipt, { views: VIEWS, show: () => this.shownAfter(limitId, reply) });
  }

  private async show(limitId: string): Promise<Tagged> {
    const { limit, revision } = await this.limits.revisedById(limitId);
    return tagged(await this.text(limit), revision);
  }

  /** As an answer to a write, whose receipt has the revision of the stream with all limits. */
  private async shownAfter(limitId: string, reply: FastifyReply): Promise<JsonText> {
    const { json, revision } = await this.show(limitId);
    reply.header('etag', `"${revision}"`);
    return json;
  }

  private async text(limit: AppliedLimit): Promise<JsonText> {
    return limitView((await this.shown.show(limit)).shown);
  }

  /** Rejects `not_found` for limits of others, in the words of an unknown one. */
  private async visible(caller: Caller, limitId: string): Promise<AppliedLimit> {
    const limit = await this.limits.byId(limitId);
    const isVisible =
      limit.scope.type === 'apiKey'
        ? (await this.keys.find(caller, limit.id)) !== undefined
        : caller.role === 'admin' || (limit.scope.type === 'user' && limit.scope.id === caller.userId);
    return isVisible ? limit : reject('not_found', { kind: 'limit', id: limitId });
  }
}

interface Named {
  readonly id?: string | undefined;
}

/** The limit that a request without one in its path means. */
const named = (inQuery: Named, inBody: Named): string => {
  if (inQuery.id !== undefined && inBody.id !== undefined && inQuery.id !== inBody.id) throw mismatch('the query');
  const id = inBody.id ?? inQuery.id;
  if (id === undefined)
    throw new InvalidInput('invalid_body', [{ path: 'id', code: 'required', message: 'Is missing.' }]);
  return id;
};

const mismatch = (place: string): InvalidInput =>
  new InvalidInput('invalid_body', [{ path: 'id', code: 'mismatch', message: `Must be the id in ${place}.` }]);

const filterOf = ({ type, id }: LimitScope): InvocationFilter =>
  id === null || type === 'instance' ? {} : { [`${type}Id`]: id };
