import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EventFilter, inLogOrder, isForeignEvent, type LogPage, type LogReader } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';
import { REMOVAL_STREAM } from '../removal';
import { SEAL_STREAM } from '../event-hash';
import { readableSealOf } from '../sealed-place';
import { StreamHolders } from './foreign-tally';
import { type Damage, isDamage, type SourceItem, type VerifySource } from './verify-source';

const PAGE = 500;
const SEALS_AT_ONCE = 10;

/** Reads a log online or at rest. Other work gets its turn between pages. */
export const logSource = (log: LogReader): VerifySource => ({
  seals: () => streamOf(log, SEAL_STREAM),
  events: () => withForeign(log),
  receipts: () => streamOf(log, REMOVAL_STREAM),
  total: async () => {
    const [event] = await log.readStream(SEAL_STREAM, { direction: 'backwards', limit: 1 }).catch(nothingIfDamaged);
    return event === undefined ? 0 : (readableSealOf(event)?.ordinal ?? 0);
  },
});

async function* streamOf(log: LogReader, stream: string): AsyncGenerator<StoredEvent | Damage> {
  if (log.unsound !== undefined) return yield* restOfStream(log, stream, 0);
  for (let from = 0; ;) {
    const events = await log.readStream(stream, { from, limit: SEALS_AT_ONCE }).catch(damageOf);
    if ('damage' in events) {
      yield events;
      yield* restOfStream(log, stream, from);
      return;
    }
    yield* events;
    const last = events.at(-1);
    if (last === undefined) return;
    from = last.revision + 1;
    await nextTurn();
  }
}

/**
 * The readable events of a damaged stream from a revision on: found in the whole log, where events do not depend on
 * their neighbours.
 */
async function* restOfStream(log: LogReader, stream: string, from: number): AsyncGenerator<StoredEvent> {
  for await (const item of wholeLog(log, { streamPrefixes: [stream] })) {
    if (!isDamage(item) && item.stream === stream && item.revision >= from) yield item;
  }
}

async function* wholeLog(log: LogReader, filter?: EventFilter): AsyncGenerator<StoredEvent | Damage> {
  for await (const page of pagesOf(log, filter === undefined ? {} : { filter })) {
    if ('damage' in page) yield page;
    else yield* page.events;
  }
}

/** The whole log, with what others wrote in its place. */
async function* withForeign(log: LogReader): AsyncGenerator<SourceItem> {
  const holders = new StreamHolders(log);
  for await (const page of pagesOf(log, { withForeign: true })) {
    if ('damage' in page) {
      yield page;
      continue;
    }
    for (const event of inLogOrder(page))
      yield isForeignEvent(event) ? { ...event, isAmongOurs: await holders.isAmongOurs(event) } : event;
  }
}

/** The pages of the log; what cannot be read is said in between. */
async function* pagesOf(
  log: LogReader,
  options: { readonly filter?: EventFilter; readonly withForeign?: boolean },
): AsyncGenerator<Pick<LogPage, 'events' | 'foreign'> | Damage> {
  for (let after: Position | null = null; ;) {
    const page: LogPage | Damage = await log.readAll({ after, limit: PAGE, ...options }).catch(damageOf);
    if ('damage' in page) {
      const { events, position } = await upToDamage(log, after);
      yield { events };
      yield page;
      const next = await behindDamage(log, position);
      if (next === undefined) return;
      yield { events: [next] };
      after = next.position;
      continue;
    }
    yield page;
    if (page.end) return;
    after = page.next;
    await nextTurn();
  }
}

/**
 * The events before a damaged one, in pages of one; or all of them if each can be read separately, as from the memory
 * of a running server.
 */
const upToDamage = async (
  log: LogReader,
  after: Position | null,
): Promise<{ events: readonly StoredEvent[]; position: Position | null }> => {
  const events: StoredEvent[] = [];
  for (let position = after; ;) {
    const page: LogPage | Damage = await log.readAll({ after: position, limit: 1 }).catch(damageOf);
    if ('damage' in page) return { events, position };
    events.push(...page.events);
    position = page.next;
    if (page.end) return { events, position };
  }
};

/**
 * The first event after damage, found from the end of the log. Events between two damaged places are not read.
 * Undefined if nothing can be read from the end.
 */
const behindDamage = async (log: LogReader, before: Position | null): Promise<StoredEvent | undefined> => {
  let first: StoredEvent | undefined;
  let reached: Position | null = null;
  for (let limit = PAGE; limit > 0;) {
    const page: LogPage | Damage = await log.readAll({ direction: 'backwards', after: reached, limit }).catch(damageOf);
    if ('damage' in page) {
      limit = Math.floor(limit / 2);
      continue;
    }
    first = page.events.at(-1) ?? first;
    if (page.end || page.next === null || (before !== null && page.next <= before)) break;
    reached = page.next;
    await nextTurn();
  }
  return before !== null && first !== undefined && first.position <= before ? undefined : first;
};

const damageOf = (error: unknown): Damage => {
  if (!isCorruption(error)) throw error;
  const position = /^position (\S+)$/.exec(error.place)?.[1];
  return { damage: error.message, ...(position === undefined ? {} : { position }) };
};

const nothingIfDamaged = (error: unknown): readonly StoredEvent[] => {
  if (!isCorruption(error)) throw error;
  return [];
};

/** By shape, since classes differ between threads. */
const isCorruption = (error: unknown): error is Error & { readonly place: string } =>
  error instanceof Error && error.name === 'LogCorrupted';
