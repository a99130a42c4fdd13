import type { Caller } from '@app/access';
import {
  concealed,
  historyOf,
  momentOf,
  objectAfter,
  type ObjectMoment,
  ObjectReader,
  type ObjectView,
  type Rows,
} from '@app/auditing';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import {
  Answers,
  CommandContext,
  CurrentCaller,
  Documented,
  flagText,
  type Input,
  InvalidInput,
  JsonText,
  listOf,
  listQuery,
  Lists,
  QueryInput,
  Reads,
  Rejects,
  Requires,
  wholeNumberText,
  knownPosition,
  noPosition,
} from '@app/http';
import {
  type CommandMeta,
  EventCodec,
  type Json,
  type Position,
  type RecordedEvent,
  reject,
  Semaphore,
} from '@app/kernel';
import { READ_STORE, type ReadStore, type Row } from '@app/read-store';
import { VAULT, type Vault } from '@app/vault';
import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { auditObjects, type AuditObjectRow } from '@projections/audit-objects';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { historyItemSchema } from './audit-schemas';
import { ContentRegister } from './content-register';
import { IndexWaiter } from './index-waiter';
import { NewestItems } from './newest-items';
import { type ObjectKind, objectKinds } from './object-kinds';

/** Most streams that one object is read from: a tag's documents. */
const MOST_STREAMS = 10_000;

const content = flagText.optional().describe('Decrypts content that you can read. Access is recorded.');
const asOfQuery = z.strictObject({
  at: z.string().min(1).max(64).optional().describe('A time or a position in the log; now by default.'),
  revision: wholeNumberText(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('A revision of the object, instead of `at`.'),
  content,
});
const historyQuery = listQuery({ content });

/** As the API of its kind would have shown it. */
const objectSchema = z
  .looseObject({})
  .meta({ id: 'ObjectAsOf', description: 'The object, in the format of its resource.' });

/** Objects that are folded at once: each holds a few megabytes of its events meanwhile. */
const FOLDS_AT_ONCE = 2;

/** Who asks for what of an object. */
interface Look {
  /** Whether they asked for content; undefined: they see what they may. */
  readonly wanted: boolean | undefined;
  readonly moment?: ObjectMoment | undefined;
  readonly caller: Caller;
  /** What goes on record. */
  readonly asked: Readonly<Record<string, unknown>>;
  readonly meta: CommandMeta;
  readonly signal: AbortSignal;
}

interface Seen {
  readonly view: ObjectView;
  readonly events: AsyncIterable<RecordedEvent>;
  /** Null where no event is as old as was asked for. */
  readonly upTo: Position | null;
}

@Documented('Audit')
@Controller('api/v1/audit/objects/:kind/:id')
export class AuditObjectsController {
  private readonly objects: ObjectReader;
  private readonly folds = new Semaphore(FOLDS_AT_ONCE);

  constructor(
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(READ_STORE) private readonly views: ReadStore,
    @Inject(VAULT) vault: Vault,
    codec: EventCodec,
    private readonly register: ContentRegister,
    private readonly index: IndexWaiter,
    private readonly lists: Lists,
  ) {
    this.objects = new ObjectReader(log, codec, vault);
  }

  @Get()
  @Requires('audit:read')
  @ApiOperation({
    operationId: 'getObjectAsOf',
    summary:
      'Reads an object as it was at a time, a position or one of its revisions, such as one that a citation names.',
  })
  @Reads(auditObjects.name)
  @Answers(200, objectSchema)
  @Rejects('not_found', 'invalid_parameter')
  async asOf(
    @Param('kind') kind: string,
    @Param('id') id: string,
    @QueryInput(asOfQuery) query: Input<typeof asOfQuery>,
    @CurrentCaller() caller: Caller,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readonly<Record<string, Json>>> {
    const found = await this.find(kind, id, reply);
    const { at, revision, content: wanted } = query.parse();
    if (revision !== undefined && (at !== undefined || found.kind.stream === null)) return noRevision();
    const given = at === undefined ? undefined : (momentOf(at) ?? noPosition('at', { orTime: true }));
    const time =
      given !== undefined && 'position' in given
        ? { position: await knownPosition(this.log, given.position, 'at', { orTime: true }) }
        : given;
    const moment = revision === undefined ? time : { revision };
    const asked = { kind, id, at, revision };
    const { shown, removed } = await this.folding(reply, async (signal) => {
      const { view, events, upTo } = await this.see(found, id, { wanted, moment, caller, asked, meta, signal });
      if (revision !== undefined && upTo === null) return reject('not_found', { kind: 'version', id: revision });
      return objectAfter(view, events);
    });
    // What it was is shown as of before.
    return shown ?? reject('not_found', { kind, id, ...(removed && { reason: 'deleted', ...removed }) });
  }

  @Get('history')
  @Requires('audit:read')
  @ApiOperation({
    operationId: 'listObjectChanges',
    summary: 'Lists what each event changed in an object, newest first, also after it was deleted.',
  })
  @Reads(auditObjects.name)
  @Answers(200, listOf(historyItemSchema))
  @Rejects('not_found')
  async history(
    @Param('kind') kind: string,
    @Param('id') id: string,
    @QueryInput(historyQuery) query: Input<typeof historyQuery>,
    @CurrentCaller() caller: Caller,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText> {
    const found = await this.find(kind, id, reply);
    const asked = query.parse();
    const list = `history/${kind}/${id}`;
    const { limit, after } = this.lists.page(list, caller, asked);
    const newest = new NewestItems(limit);
    await this.folding(reply, async (signal) => {
      const why = { kind, id, history: true };
      const { view, events } = await this.see(found, id, { wanted: asked.content, caller, asked: why, meta, signal });
      for await (const item of historyOf(view, events)) {
        if (after !== undefined && item.position >= after.key) return;
        newest.add(item);
      }
    });
    const { items, last, isWhole } = newest.page();
    return this.lists.answer(list, caller, asked, items, isWhole ? null : { values: [], key: last });
  }

  /** Runs in its turn, and ends where the client leaves: whoever folds a long history holds pages of it. */
  private folding<T>(reply: FastifyReply, fold: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const left = new AbortController();
    reply.raw.once('close', () => left.abort());
    return this.folds.run(() => fold(left.signal), left.signal);
  }

  /** The kind and the streams of an object. Rejects with `not_found` for an unknown kind; for an unknown id, reading the streams does. */
  private async find(
    kind: string,
    id: string,
    reply: FastifyReply,
  ): Promise<{ readonly kind: ObjectKind; readonly streams: readonly string[] }> {
    const known = Object.hasOwn(objectKinds, kind) ? objectKinds[kind] : undefined;
    if (known === undefined)
      return reject('not_found', { kind: 'objectKind', id: kind, kinds: Object.keys(objectKinds).join(', ') });
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
    { wanted, moment, caller, asked, meta, signal }: Look,
  ): Promise<Seen> {
    const allowed = caller.permissions.has('audit:content');
    if (wanted === true && !allowed) return reject('forbidden', { permission: 'audit:content' });
    const { projection, related, present, joins } = kind;
    const revealed = allowed && wanted !== false;
    const found = await this.objects.find({ streams, types: projection.types, related }, moment, signal);
    if (found === undefined) return reject('not_found', { kind: String(asked['kind']), id });
    const { holdContent, upTo } = found;
    if (revealed && holdContent) await this.register.record(caller, asked, found, meta);
    const shown = (row: Row, rows: Rows): Readonly<Record<string, Json>> =>
      JSON.parse(present(row, rows).text) as Record<string, Json>;
    const view: ObjectView = {
      projection,
      key: id,
      present: revealed || !holdContent ? shown : (row, rows) => concealed(shown(row, rows)) as Record<string, Json>,
      joins,
    };
    return { view, events: this.objects.read(found, revealed, signal), upTo };
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
