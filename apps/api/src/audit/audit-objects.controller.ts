import type { Caller } from '@app/access';
import {
  concealed,
  historyOf,
  type Moment,
  momentOf,
  objectAfter,
  type ObjectView,
  readObject,
  type Rows,
  upTo,
} from '@app/auditing';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import { type CommandMeta, EventCodec, type Json, type RecordedEvent, refuse } from '@app/kernel';
import { fitting, READ_STORE, type ReadStore, type Row } from '@app/read-store';
import { VAULT, type Vault } from '@app/vault';
import { Controller, Get, Inject, Param, Query, Res } from '@nestjs/common';
import { auditObjects, type AuditObjectRow } from '@projections/audit-objects';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import {
  Answers,
  CommandContext,
  CurrentCaller,
  flagText,
  InvalidInput,
  JsonText,
  listOf,
  Lists,
  listQuery,
  Parameters,
  query,
  Reads,
  Refuses,
  Requires,
  Summary,
  wholeNumberText,
} from '../http';
import { historyItemSchema } from './audit-schemas';
import { ContentRegister } from './content-register';
import { IndexWaiter } from './index-waiter';
import { knownPosition, noPosition } from './known-position';
import { type ObjectKind, objectKinds } from './object-kinds';

/** Most streams that one object is read from: a tag's documents. */
const MOST_STREAMS = 10_000;

const content = flagText.optional();
const asOfQuery = z.strictObject({
  at: z.string().min(1).max(64).optional(),
  revision: wholeNumberText(0, Number.MAX_SAFE_INTEGER).optional(),
  content,
});
const historyQuery = listQuery({ content });

interface Seen {
  readonly view: ObjectView;
  readonly events: readonly RecordedEvent[];
}

@Controller('api/v1/audit/objects/:kind/:id')
export class AuditObjectsController {
  constructor(
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(READ_STORE) private readonly views: ReadStore,
    @Inject(VAULT) private readonly vault: Vault,
    private readonly codec: EventCodec,
    private readonly register: ContentRegister,
    private readonly index: IndexWaiter,
    private readonly lists: Lists,
  ) {}

  @Get()
  @Requires('audit:read')
  @Summary(
    'An object as its API would have shown it at a time, a position or a revision of its own, such as a citation pins',
  )
  @Parameters(asOfQuery)
  @Reads(auditObjects.name)
  @Answers(200, z.looseObject({}))
  @Refuses('not_found', 'invalid_parameter')
  async asOf(
    @Param('kind') kind: string,
    @Param('id') id: string,
    @Query() raw: unknown,
    @CurrentCaller() caller: Caller,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readonly<Record<string, Json>>> {
    const found = await this.find(kind, id, reply);
    const { at, revision, content: wanted } = query(asOfQuery, raw);
    if (revision !== undefined && (at !== undefined || found.kind.stream === null)) return noRevision();
    const moment = at === undefined ? undefined : (momentOf(at) ?? noPosition('at'));
    if (moment !== undefined && 'position' in moment) await knownPosition(this.log, moment.position, 'at');
    const { view, events } = await this.see(found, id, wanted, caller, { kind, id, at, revision }, meta);
    const asOf = revision === undefined ? moment : await this.momentOfRevision(events, found.streams, revision);
    return objectAfter(view, asOf === undefined ? events : upTo(events, asOf)) ?? refuse('not_found', { kind, id });
  }

  @Get('history')
  @Requires('audit:read')
  @Summary('What each event changed in an object, newest first; also after it was deleted')
  @Parameters(historyQuery)
  @Reads(auditObjects.name)
  @Answers(200, listOf(historyItemSchema))
  @Refuses('not_found')
  async history(
    @Param('kind') kind: string,
    @Param('id') id: string,
    @Query() raw: unknown,
    @CurrentCaller() caller: Caller,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText> {
    const found = await this.find(kind, id, reply);
    const asked = query(historyQuery, raw);
    const list = `history/${kind}/${id}`;
    const { limit, after } = this.lists.page(list, caller, asked);
    const { view, events } = await this.see(found, id, asked.content, caller, { kind, id, history: true }, meta);
    const items = historyOf(view, events)
      .toReversed()
      .filter(({ position }) => after === undefined || position < after.key);
    const shown = items.slice(0, limit).map((item) => new JsonText(JSON.stringify(item)));
    const count = fitting(
      shown.map(({ text }) => text.length),
      limit,
    );
    const last = items[count - 1];
    return this.lists.answer(
      list,
      caller,
      asked,
      shown.slice(0, count),
      last === undefined || count === items.length ? null : { values: [], key: last.position },
    );
  }

  /** The kind and the streams of an object. Refuses with `not_found` for an unknown kind; for an unknown id, reading the streams does. */
  private async find(
    kind: string,
    id: string,
    reply: FastifyReply,
  ): Promise<{ readonly kind: ObjectKind; readonly streams: readonly string[] }> {
    const known = Object.hasOwn(objectKinds, kind) ? objectKinds[kind] : undefined;
    if (known === undefined) return refuse('not_found', { kind: 'objectKind', id: kind });
    return {
      kind: known,
      streams: known.stream === null ? await this.tellingOf(`${kind}/${id}`, reply) : [known.stream(id)],
    };
  }

  private async tellingOf(object: string, reply: FastifyReply): Promise<readonly string[]> {
    await this.index.wait(auditObjects.name, reply);
    const rows = await this.views.find(auditObjects.name, { where: { object }, limit: MOST_STREAMS });
    return rows.map(({ row }) => (row as AuditObjectRow).stream);
  }

  /** The object's events, decrypted for those who may see content; being shown content is on record first. */
  private async see(
    { kind, streams }: { readonly kind: ObjectKind; readonly streams: readonly string[] },
    id: string,
    wanted: boolean | undefined,
    caller: Caller,
    asked: Readonly<Record<string, unknown>>,
    meta: CommandMeta,
  ): Promise<Seen> {
    const allowed = caller.permissions.has('audit:content');
    if (wanted === true && !allowed) return refuse('forbidden', { permission: 'audit:content' });
    const { projection, related, present } = kind;
    const revealed = allowed && wanted !== false;
    const { events, holdContent } = await readObject(
      this.log,
      this.codec,
      this.vault,
      { streams, types: projection.types, related },
      revealed,
    );
    if (events.length === 0) return refuse('not_found', { kind: String(asked['kind']), id });
    if (revealed && holdContent)
      await this.register.record(
        caller,
        asked,
        events.map(({ context }) => context),
        meta,
      );
    const shown = (row: Row, rows: Rows): Readonly<Record<string, Json>> =>
      JSON.parse(present(row, rows).text) as Record<string, Json>;
    return {
      view: {
        projection,
        key: id,
        present: revealed || !holdContent ? shown : (row, rows) => concealed(shown(row, rows)) as Record<string, Json>,
      },
      events,
    };
  }

  /** The last event that shows in the object, of its own stream at or before a revision. Refuses `not_found` where none is, and for a revision that there never was. */
  private async momentOfRevision(
    events: readonly RecordedEvent[],
    streams: readonly string[],
    revision: number,
  ): Promise<Moment> {
    const ends = await Promise.all(
      streams.map((stream) => this.log.readStream(stream, { direction: 'backwards', limit: 1 })),
    );
    const last = events.findLast(({ context }) => streams.includes(context.stream) && context.revision <= revision);
    return last === undefined || !ends.flat().some((end) => end.revision >= revision)
      ? refuse('not_found', { kind: 'version', id: revision })
      : { position: last.context.position };
  }
}

const noRevision = (): never => {
  throw new InvalidInput('invalid_parameter', [
    {
      path: 'revision',
      code: 'not_allowed',
      message: 'Must be the only parameter, for a kind of object that has revisions.',
    },
  ]);
};
