import type { Caller } from '@app/access';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import {
  Answers,
  CurrentCaller,
  Documented,
  type Input,
  JsonText,
  knownPosition,
  listOf,
  listQuery,
  Lists,
  QueryInput,
  Reads,
  Requires,
} from '@app/http';
import { foreignPage } from '@app/sealing';
import { Controller, Get, Inject } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { z } from 'zod';
import { foreignEventsSchema, foreignEventView } from './audit-schemas';

const LIST = 'foreign-events';
const foreignQuery = listQuery({
  after: z.string().min(1).max(300).optional().describe('Only events after this position.'),
});

@Documented('Audit')
@Controller('api/v1/audit/foreign-events')
export class AuditForeignController {
  constructor(
    @Inject(EVENT_LOG) private readonly log: EventLog,
    private readonly lists: Lists,
  ) {}

  @Get()
  @Requires('audit:read')
  @ApiOperation({
    operationId: 'listForeignEvents',
    summary:
      'Lists events that other programs wrote to the log server, oldest first. Items are those in streams of the platform or under a seal; `others` counts the rest. A page before the last can be empty.',
  })
  @Answers(200, listOf(foreignEventView.schema, { others: foreignEventsSchema.describe('The rest.') }))
  @Reads()
  async foreign(
    @QueryInput(foreignQuery) query: Input<typeof foreignQuery>,
    @CurrentCaller() caller: Caller,
  ): Promise<JsonText> {
    const asked = query.parse();
    const { limit, after } = this.lists.page(LIST, caller, asked);
    const start =
      after?.key ?? (asked.after === undefined ? null : await knownPosition(this.log, asked.after, 'after'));
    const { items, others, next } = await foreignPage(this.log, { after: start, limit });
    return this.lists
      .answer(
        LIST,
        caller,
        asked,
        items.map((item) => foreignEventView(item)),
        next === null ? null : { values: [], key: next },
      )
      .with({ others });
  }
}
