import type { Caller } from '@app/access';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import {
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  type JsonText,
  listOf,
  Lists,
  QueryInput,
  reached,
  Reads,
  Requires,
  Writes,
  VIEW_WAITER,
  type ViewWaiter,
} from '@app/http';
import { isLiving, userDecider } from '@app/identity';
import { type CommandMeta, type Config, CONFIG, Decisions, reject } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { restatementId, Restatements } from '@app/spending';
import { replayLimit } from '@projections/invocations';
import { GetRestatement, ListRestatements } from '@projections/restatements';
import { Controller, Get, Inject, Param, Post, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { orderedRange } from '../core/usage/range-schemas';
import { newRestatement, proposed, restatementsQuery, restatementView, shownWhatIf, whatIfBody } from './usage-schemas';

const PATH = '/api/v1/operations/usage';
const LIST = 'restatements';

/** What usage would have cost under other prices, and what a limit would have stopped: ids and numbers, no names. */
@Documented('Operations')
@Controller(PATH)
export class UsageOperationsController {
  constructor(
    private readonly decisions: Decisions,
    private readonly restatements: Restatements,
    private readonly queries: QueryBus,
    private readonly lists: Lists,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(READ_STORE) private readonly store: ReadStore,
    @Inject(CONFIG) private readonly config: Config,
    private readonly writes: Writes,
    @Inject(VIEW_WAITER) private readonly views: ViewWaiter,
  ) {}

  @Post('restatements')
  @Requires('operations')
  @ApiOperation({
    operationId: 'createRestatement',
    summary:
      'Creates a restatement: a second ledger of what the calls of a period would have cost under other prices. Billed amounts do not change.',
  })
  @Answers(201, restatementView.schema)
  @Reads('invocations')
  async restate(
    @BodyInput(newRestatement) body: Input<typeof newRestatement>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText | undefined> {
    await this.assertComplete();
    const now = meta.now.toISOString();
    const { from, to = now, prices } = body.parse();
    const terms = {
      ...orderedRange(from, to, 'invalid_body'),
      prices: prices === 'current' ? { at: now } : prices,
      currency: this.config.DEFAULT_CURRENCY,
    };
    const receipt = await this.restatements.restate(terms, meta);
    const id = restatementId(meta);
    return this.writes.answer(reply, receipt, {
      views: ['restatements'],
      location: `${PATH}/restatements/${id}`,
      show: async () => restatementView(await this.queries.execute(new GetRestatement(id))),
    });
  }

  @Get('restatements')
  @Requires('operations')
  @ApiOperation({ operationId: 'listRestatements', summary: 'Lists restatements, newest first.' })
  @Answers(200, listOf(restatementView.schema))
  @Reads('restatements')
  async list(
    @CurrentCaller() caller: Caller,
    @QueryInput(restatementsQuery) query: Input<typeof restatementsQuery>,
  ): Promise<JsonText> {
    const asked = query.parse();
    const { rows, next } = await this.queries.execute(new ListRestatements(this.lists.page(LIST, caller, asked)));
    return this.lists.answer(
      LIST,
      caller,
      asked,
      rows.map(({ row }) => restatementView(row)),
      next,
    );
  }

  @Get('restatements/:restatementId')
  @Requires('operations')
  @ApiOperation({
    operationId: 'getRestatement',
    summary: 'Reads a restatement. It has no sums until its ledger is complete.',
  })
  @Answers(200, restatementView.schema)
  @Reads('restatements')
  async read(@Param('restatementId') id: string): Promise<JsonText> {
    return restatementView(await this.queries.execute(new GetRestatement(id)));
  }

  @Post('what-if')
  @Requires('operations')
  @ApiOperation({
    operationId: 'simulateSpendLimit',
    summary:
      'Simulates a spend limit: reports which calls of a period it would have rejected, by user, key and model. Writes nothing.',
  })
  @Answers(200, shownWhatIf)
  @Reads('invocations')
  async whatIf(
    @BodyInput(whatIfBody) body: Input<typeof whatIfBody>,
    @CommandContext() meta: CommandMeta,
  ): Promise<z.output<typeof shownWhatIf>> {
    await this.assertComplete();
    const { from, to = meta.now.toISOString(), limit } = body.parse();
    const { DEFAULT_CURRENCY: currency, DEFAULT_TIME_ZONE } = this.config;
    const period = { ...orderedRange(from, to, 'invalid_body'), currency };
    return {
      ...period,
      ...(await replayLimit(this.store, proposed(limit, DEFAULT_TIME_ZONE), period, (userId) => this.weekOf(userId))),
    };
  }

  /** Rejects `view_unavailable` while there are records of usage that the view has not read: a ledger that is closed without them stays wrong. */
  private async assertComplete(): Promise<void> {
    const head = await this.log.head();
    if (head !== null && !(await reached(this.views, ['invocations'], head))) reject('view_unavailable');
  }

  private async weekOf(userId: string): Promise<string | null> {
    const { state: user } = await this.decisions.load(userDecider, userId);
    return isLiving(user) ? user.usageWindowStart : null;
  }
}
