import type { Caller } from '@app/access';
import { AUDIT_TRAIL, AuditLog, type EventQuery, matches, tracedOf } from '@app/auditing';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import {
  Answers,
  AnswersAs,
  CommandContext,
  CurrentCaller,
  Documented,
  flagText,
  type Input,
  instant,
  JsonText,
  listOf,
  listQuery,
  Lists,
  QueryInput,
  Reads,
  Requires,
  knownPosition,
  resumePoint,
} from '@app/http';
import { type CommandMeta, IDS, type Ids, reject, type StoredEvent } from '@app/kernel';
import { Controller, Get, Headers, Inject, Res, StreamableFile } from '@nestjs/common';
import { ApiHeader, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { ContentRegister, shownRange } from './content-register';
import { EventShower } from './event-shower';
import { followEvents } from './follow-events';
import { shownEventSchema } from './audit-schemas';
import { IndexWaiter } from './index-waiter';

const name = z.string().min(1).max(300);

const eventsQuery = listQuery({
  stream: name.optional().describe('Only events of this stream.'),
  category: name.optional().describe('Only events of streams of this category.'),
  type: name.optional().describe('Only events of this type.'),
  actor: name.optional().describe('Only events by this actor.'),
  correlationId: name.optional().describe('Only events of this request and what it caused.'),
  from: instant.optional().describe('Only events recorded at or after this time.'),
  to: instant.optional().describe('Only events recorded before this time.'),
  after: name.optional().describe('Only events after this position.'),
  order: z.enum(['asc', 'desc']).default('desc').describe('Oldest or newest first.'),
  follow: flagText.default(false).describe('Sends new events as Server-Sent Events.'),
  content: flagText.default(false).describe('Decrypts content that you can read. Access is recorded.'),
  raw: flagText.default(false).describe('Adds the stored bytes.'),
});
type EventsQuery = z.output<typeof eventsQuery>;

const LIST = 'audit-events';

@Documented('Audit')
@Controller('api/v1/audit/events')
export class AuditEventsController {
  constructor(
    private readonly auditLog: AuditLog,
    private readonly shower: EventShower,
    private readonly register: ContentRegister,
    private readonly lists: Lists,
    private readonly index: IndexWaiter,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  @Get()
  @Requires('audit:read')
  @ApiOperation({
    operationId: 'listEvents',
    summary:
      'Lists the events of the log, newest first. `follow=true` streams new ones as Server-Sent Events: `event`, and `restored` when the log was restored from an older backup. Then list the events again.',
  })
  @Reads(AUDIT_TRAIL)
  @ApiHeader({ name: 'last-event-id', description: 'The id of the last event that was received.' })
  @Answers(200, listOf(shownEventSchema))
  @AnswersAs('text/event-stream')
  async events(
    @QueryInput(eventsQuery) query: Input<typeof eventsQuery>,
    @Headers('last-event-id') lastEventId: string | undefined,
    @CurrentCaller() caller: Caller,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText | StreamableFile> {
    const asked = query.parse();
    const assertContent = ({ permissions }: Caller): void =>
      void (asked.content && !permissions.has('audit:content') && reject('forbidden', { permission: 'audit:content' }));
    assertContent(caller);
    reply.request.mayGoOn = assertContent;
    if (asked.follow) return this.follow(asked, lastEventId, caller, meta);
    await this.index.wait(AUDIT_TRAIL, reply);
    return this.page(asked, caller, meta);
  }

  private async page(asked: EventsQuery, caller: Caller, meta: CommandMeta): Promise<JsonText> {
    const { limit, after } = this.lists.page(LIST, caller, asked);
    const start =
      after?.key ?? (asked.after === undefined ? null : await knownPosition(this.log, asked.after, 'after'));
    const page = await this.auditLog.page(asked, { order: asked.order, after: start, limit });
    if (asked.content) await this.register.record(caller, filtersOf(asked), shownRange(page.events), meta);
    // No presenter: the shower makes an event field by field, and a copy of its data would only cost time.
    const items = (await this.shower.show(page.events, asked)).map((event) => new JsonText(JSON.stringify(event)));
    return this.lists.answer(LIST, caller, asked, items, page.next === null ? null : { values: [], key: page.next });
  }

  /** From `last-event-id` or `after` on, or from now. */
  private async follow(
    asked: EventsQuery,
    lastEventId: string | undefined,
    caller: Caller,
    meta: CommandMeta,
  ): Promise<StreamableFile> {
    if (asked.content) await this.register.record(caller, filtersOf(asked), shownRange([]), meta);
    const show = async (events: readonly StoredEvent[]) => {
      const wanted = events.filter((event) => matches(asked, tracedOf(event)));
      if (asked.content && (await this.shower.holdContent(wanted)))
        await this.register.record(caller, filtersOf(asked), shownRange(wanted), {
          ...meta,
          commandId: this.ids.next(),
        });
      return this.shower.show(wanted, asked);
    };
    const from = lastEventId ?? asked.after;
    const start =
      from === undefined
        ? { after: await this.log.head() }
        : await resumePoint(this.log, from, lastEventId === undefined ? 'after' : 'last-event-id');
    return new StreamableFile(followEvents(this.log, { ...start, show }), { type: 'text/event-stream' });
  }
}

const filtersOf = ({
  stream,
  category,
  type,
  actor,
  correlationId,
  from,
  to,
  after,
  follow,
}: EventsQuery): EventQuery & Record<string, unknown> => ({
  stream,
  category,
  type,
  actor,
  correlationId,
  from,
  to,
  after,
  follow: follow || undefined,
});
