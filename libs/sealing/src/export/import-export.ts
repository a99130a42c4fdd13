import { type EventLog, type LogReader, type OurEvents, stampAppends } from '@app/event-log';
import { nameId, type RetryOptions, retry, type Position, type StoredEvent } from '@app/kernel';
import { LRUCache } from 'lru-cache';
import { SEAL_STREAM } from '../event-hash';
import { Sealer, type SealerOptions } from '../sealer';
import { UNPROVEN_STREAM } from '../unproven';
import type { Verification } from '../verify/verification';
import { verifyLog } from '../verify/verify-stores';
import type { ExportedRemoval } from './export-format';
import { ImportAppender, PLACEHOLDER } from './import-appender';
import { retryingReader } from './retrying-reader';
import { checkFile, exportItems } from './read-export';

/** The log holds something that is not the beginning of the export: nothing was changed. */
export class LogDiffers extends Error {
  override readonly name = 'LogDiffers';

  constructor(event: StoredEvent) {
    super(
      `the log is not empty and differs from this export: it holds event ${event.id} at revision ${event.revision} of ${event.stream}`,
    );
  }
}

/** The export is incomplete, or was changed. */
export class ExportDamaged extends Error {
  override readonly name = 'ExportDamaged';
}

/** The export holds events of other programs, which the log cannot tell from ours: nothing was changed. */
export class ForeignExport extends Error {
  override readonly name = 'ForeignExport';

  constructor({ id, stream, revision }: StoredEvent) {
    super(
      `the export holds events of other programs, sealed by an earlier version, the first ${id} at revision ${revision} of ${stream}: import it into EventStoreDB (EVENTSTORE_URL), which keeps them apart`,
    );
  }
}

/** How an export is imported; `done` and `total` are events. */
export interface ImportOptions extends RetryOptions {
  /** Public keys that may have signed. */
  readonly publicKeys: readonly string[];
  /** For a log that takes our events alone: what tells them. */
  readonly ours?: OurEvents;
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  /**
   * Seals the unsealed events of the export, once, whoever appended them. Without it, the next start seals the events
   * that it can prove.
   */
  readonly sealing?: Omit<SealerOptions, 'log' | 'imported'>;
}

const REMEMBERED_FOREIGN = 4_000;
const PLACEHOLDER_SPACE = '6ba7b811-9dad-11d1-80b4-00c04fd430c8';

/**
 * Returns a function that imports an export into an empty log, event for event, and verifies the result. Waits for a
 * log that goes away; call it again after a failure or an interruption to continue. Throws `ExportDamaged`,
 * `ForeignExport` and `LogDiffers` before anything is written.
 */
export const prepareImport = async (
  file: string,
  log: EventLog,
  given: ImportOptions,
): Promise<() => Promise<Verification>> => {
  const { ours } = given;
  const [wrong] = await checkFile(file);
  if (wrong !== undefined) throw new ExportDamaged(`${file} cannot be imported: ${wrong.detail}`);
  if (ours !== undefined) await assertOurs(file, ours);
  await assertBeginning(file, retryingReader(log, given));
  return () => bringIn(file, log, given);
};

/** Throws `LogDiffers` unless what the log holds is how the export begins. */
const assertBeginning = async (file: string, reader: LogReader): Promise<void> => {
  const present = new PresentEvents(reader);
  for await (const item of exportItems(file)) {
    if (await present.isAtEnd()) return;
    if (item.kind === 'removed') for (const event of placeholders(item.removed)) await present.skipPlaceholder(event);
    if (item.kind === 'event') await present.skip(item.event);
  }
  await present.mustBeAtEnd();
};

const bringIn = async (
  file: string,
  log: EventLog,
  { publicKeys, onProgress, sealing, ...options }: ImportOptions,
): Promise<Verification> => {
  const reader = retryingReader(log, options);
  const present = new PresentEvents(reader);
  const appender = new ImportAppender(log, options);
  const removals: ExportedRemoval[] = [];
  let done = 0;
  let total = 0;
  for await (const item of exportItems(file)) {
    if (item.kind === 'header') total = item.header.ordinal;
    if (item.kind === 'removed') {
      removals.push(item.removed);
      for (const event of placeholders(item.removed))
        if (!(await present.skipPlaceholder(event))) await appender.add(event);
    }
    if (item.kind !== 'event') continue;
    if (!(await present.skip(item.event))) await appender.add(item.event);
    done += 1;
    onProgress?.({ done, total: Math.max(done, total) });
  }
  await present.mustBeAtEnd();
  await appender.flush();
  for (const { stream, before } of removals) await retry(() => log.truncate(stream, before), options);
  if (sealing !== undefined) await sealTail(log, sealing, options);
  return verifyLog(reader, { publicKeys: sealing === undefined ? publicKeys : [...publicKeys, sealing.key.publicKey] });
};

const sealTail = async (
  log: EventLog,
  sealing: Omit<SealerOptions, 'log' | 'imported'>,
  options: RetryOptions,
): Promise<void> => {
  stampAppends(log, sealing.mac);
  const sealer = new Sealer({ ...sealing, log, imported: true });
  await retry(() => sealer.start(), options);
  await sealer.caughtUp;
  await sealer.stop();
};

const assertOurs = async (file: string, ours: OurEvents): Promise<void> => {
  for await (const item of exportItems(file))
    if (item.kind === 'event' && !ours.isOurs(item.event)) throw new ForeignExport(item.event);
};

/** One after the other: a stream may have lost many. */
function* placeholders({ stream, before }: ExportedRemoval): Generator<StoredEvent> {
  for (let revision = 0; revision < before; revision += 1)
    yield {
      stream,
      revision,
      id: nameId(PLACEHOLDER_SPACE, `${stream}/${revision}`),
      type: PLACEHOLDER,
      data: '{}',
      metadata: '{}',
      position: '',
    };
}

/** What the log holds already, which must be how the export begins. */
class PresentEvents {
  private events: StoredEvent[] = [];
  /** The last foreign event: an export may hold some that an earlier version sealed. */
  private readonly foreign = new LRUCache<string, StoredEvent>({ max: REMEMBERED_FOREIGN });
  private after: Position | null = null;
  private ended = false;

  constructor(private readonly log: LogReader) {}

  /** True when the event stands in the log at this place. Throws `LogDiffers` when another does. */
  async skip(event: StoredEvent): Promise<boolean> {
    const first = await this.first();
    const foreign = this.foreign.get(placeOf(event));
    if (foreign !== undefined && isSame(foreign, event)) return true;
    if (first === undefined) return false;
    if (!isSame(first, event)) throw new LogDiffers(first);
    this.events.shift();
    return true;
  }

  /** A placeholder may be gone again where everything behind it is imported. */
  async skipPlaceholder(event: StoredEvent): Promise<boolean> {
    const first = await this.first();
    if (first === undefined) return false;
    if (isSame(first, event)) this.events.shift();
    return true;
  }

  async isAtEnd(): Promise<boolean> {
    return (await this.first()) === undefined;
  }

  /** But for what sealed its end, when it was imported before. */
  async mustBeAtEnd(): Promise<void> {
    for (let first = await this.first(); first !== undefined; first = await this.first()) {
      if (first.stream !== SEAL_STREAM && first.stream !== UNPROVEN_STREAM) throw new LogDiffers(first);
      this.events.shift();
    }
  }

  private async first(): Promise<StoredEvent | undefined> {
    while (this.events.length === 0 && !this.ended) {
      const page = await this.log.readAll({ after: this.after, limit: 1_000, withForeign: true });
      this.events = [...page.events];
      for (const event of page.foreign ?? []) this.foreign.set(placeOf(event), event);
      this.after = page.next;
      this.ended = page.end;
    }
    return this.events[0];
  }
}

const placeOf = ({ stream, revision }: StoredEvent): string => `${revision} ${stream}`;

const isSame = (a: StoredEvent, b: StoredEvent): boolean =>
  a.id === b.id &&
  a.stream === b.stream &&
  a.revision === b.revision &&
  a.type === b.type &&
  a.data === b.data &&
  a.metadata === b.metadata;
