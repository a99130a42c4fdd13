import type { Readable } from 'node:stream';
import { Access, type Caller } from '@app/access';
import { Answers, AnswersAs, CurrentCaller, Documented, type Input, QueryInput, Reads, Requires } from '@app/http';
import { LIMIT_WINDOWS, type LimitWindows } from '@app/spending';
import { Controller, Get, Headers, Inject, Param, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { sendCsv, wantsCsv } from './csv';
import { UsageReports } from './usage-reports';
import { agentReport, type AgentReport, agentUsageQuery, NO_WINDOW, reportColumns } from './usage-schemas';

/** What the calls for an Agent used and cost. */
@Documented('Usage')
@Controller('/api/v1/core/llm/:agentId/usage')
export class AgentUsageController {
  constructor(
    private readonly access: Access,
    private readonly reports: UsageReports,
    @Inject(LIMIT_WINDOWS) private readonly windows: Pick<LimitWindows, 'windowOf'>,
  ) {}

  @Get()
  @Requires('usage:read')
  @ApiOperation({
    operationId: 'getAgentUsage',
    summary:
      "Sums an Agent's model calls, as `/usage` does. `window` shows how much of your tightest limit is used, across all Agents.",
  })
  @Answers(200, agentReport)
  @AnswersAs('text/csv')
  @Reads('usage', 'usage-days', 'invocations')
  async report(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @QueryInput(agentUsageQuery) query: Input<typeof agentUsageQuery>,
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AgentReport | Readable> {
    await this.access.agent(caller, agentId, 'use');
    const asked = query.parse();
    const report = await this.reports.report(caller, { ...asked, agentId });
    if (wantsCsv(accept)) return sendCsv(reply, 'usage', reportColumns(asked.groupBy, report.currency), [report.items]);
    const { userId, keyId } = caller;
    return {
      ...report,
      window: (await this.windows.windowOf({ userId, ...(keyId === undefined ? {} : { keyId }) })) ?? NO_WINDOW,
    };
  }
}
