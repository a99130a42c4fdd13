import type { Readable } from 'node:stream';
import type { Caller } from '@app/access';
import {
  Answers,
  AnswersAs,
  CurrentCaller,
  Documented,
  type Input,
  type JsonText,
  listOf,
  Lists,
  QueryInput,
  Reads,
  Rejects,
  Requires,
} from '@app/http';
import { givenFields, reject } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { GetInvocation, invocationPages, ListInvocations } from '@projections/invocations';
import { Controller, Get, Headers, Inject, Param, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { sendCsv, wantsCsv } from './csv';
import { UsageReports } from './usage-reports';
import {
  invocationColumns,
  invocationsQuery,
  invocationView,
  reportColumns,
  shownReport,
  type ShownReport,
  usageQuery,
} from './usage-schemas';

const LIST = 'usage-invocations';

/** What model calls used and cost, over all Agents and the compatible API. */
@Documented('Usage')
@Controller('/api/v1/core/usage')
export class UsageController {
  constructor(
    private readonly reports: UsageReports,
    private readonly queries: QueryBus,
    private readonly lists: Lists,
    @Inject(READ_STORE) private readonly store: ReadStore,
  ) {}

  @Get()
  @Requires('usage:read')
  @ApiOperation({
    operationId: 'getUsage',
    summary:
      "Sums model calls by day, model, user or API key: your own, or everybody's for admins. The default period is the current month.",
  })
  @Answers(200, shownReport)
  @AnswersAs('text/csv')
  @Rejects('agent_not_granted')
  @Reads('usage', 'usage-days', 'invocations')
  async report(
    @CurrentCaller() caller: Caller,
    @QueryInput(usageQuery) query: Input<typeof usageQuery>,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShownReport | Readable> {
    const asked = query.parse();
    const report = await this.reports.report(caller, asked);
    return wantsCsv(accept)
      ? sendCsv(reply, 'usage', reportColumns(asked.groupBy, report.currency), [report.items])
      : report;
  }

  @Get('invocations')
  @Requires('usage:read')
  @ApiOperation({
    operationId: 'listInvocations',
    summary: 'Lists model calls, newest first. As CSV, lists the whole period at once.',
  })
  @Answers(200, listOf(invocationView.schema))
  @AnswersAs('text/csv')
  @Rejects('agent_not_granted')
  @Reads('invocations')
  async invocations(
    @CurrentCaller() caller: Caller,
    @QueryInput(invocationsQuery) query: Input<typeof invocationsQuery>,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText | Readable> {
    const { limit, ...given } = query.parse();
    const asked = { limit, ...givenFields(given) };
    const wanted = this.reports.wanted(caller, asked);
    if (wantsCsv(accept)) {
      reply.request.mayGoOn = (now) => this.reports.assertStill(now, caller);
      return sendCsv(reply, 'invocations', invocationColumns, this.rows(wanted));
    }
    const { rows, next } = await this.queries.execute(
      new ListInvocations(wanted, this.lists.page(LIST, caller, asked)),
    );
    return this.lists.answer(
      LIST,
      caller,
      asked,
      rows.map(({ row }) => invocationView(row)),
      next,
    );
  }

  @Get('invocations/:invocationId')
  @Requires('usage:read')
  @ApiOperation({ operationId: 'getInvocation', summary: 'Reads a model call.' })
  @Answers(200, invocationView.schema)
  @Reads('invocations')
  async invocation(@CurrentCaller() caller: Caller, @Param('invocationId') invocationId: string): Promise<JsonText> {
    const row = await this.queries.execute(new GetInvocation(invocationId));
    return row !== undefined && this.reports.isSeen(caller, row)
      ? invocationView(row)
      : reject('not_found', { kind: 'invocation', id: invocationId });
  }

  private async *rows(wanted: Parameters<typeof invocationPages>[1]) {
    for await (const page of invocationPages(this.store, wanted)) yield page.map(({ row }) => row);
  }
}
