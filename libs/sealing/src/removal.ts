import { setTimeout as pause } from 'node:timers/promises';
import type { EventLog } from '@app/event-log';
import {
  type Decider,
  type Decisions,
  defineEvent,
  type EventOf,
  nameId,
  type StoredEvent,
  streamOf,
  Unavailable,
} from '@app/kernel';
import { Map as PersistentMap } from 'immutable';
import { z } from 'zod';
import { jsonOf } from './json';
import { SealArchive } from './seal-archive';
import { SealedOrdinals } from './sealed-ordinals';

export const EventsRemoved = defineEvent({
  type: 'EventsRemoved',
  description: 'Events of a stream were removed from the log on purpose. The seals still cover their hashes.',
  data: z.strictObject({
    stream: z.string().min(1),
    /** Events before this revision were removed. */
    beforeRevision: z.number().int().positive(),
    /** Why, as a stable code such as `retention`. */
    reason: z.string().min(1),
  }),
});

/** The kinds of event that removals append, for the catalogue. */
export const removalEvents = [EventsRemoved] as const;

export type Removal = EventOf<typeof EventsRemoved>['data'];

/**
 * The receipts of all removals: the revision before which each stream was removed. Removed events are not removed
 * again.
 */
export const removals: Decider<PersistentMap<string, number>, Removal, EventOf<typeof EventsRemoved>> = {
  category: 'removals',
  initial: PersistentMap(),
  decide: (removal, removed) =>
    removed.get(removal.stream, 0) >= removal.beforeRevision ? [] : [{ type: 'EventsRemoved', data: removal }],
  evolve: (removed, { data: { stream, beforeRevision } }) =>
    removed.update(stream, 0, (before) => Math.max(before, beforeRevision)),
};

const REMOVALS_ID = '1';
/** The stream of the receipts of removals. */
export const REMOVAL_STREAM = streamOf(removals.category, REMOVALS_ID);

/** How far a stream was removed rightfully, and the event that says so. */
export interface RemovalReceipt extends Removal {
  readonly receiptId: string;
}

/** Whose removal it is. */
export interface RemovedBy {
  readonly actor: string;
  readonly now: Date;
}

/** How a removal waits. */
export interface RemoveOptions {
  /** Longest time the receipt may wait for its seal, milliseconds. */
  readonly timeoutMs?: number;
}

/** The sealer is a second behind, or a thousand events. */
const TIMEOUT_MS = 10_000;
const POLL_MS = 20;

/**
 * Removes the events of a stream before a revision, once the receipt is sealed: without it, a verifier takes the
 * removal for tampering. A process must seal the log meanwhile, this one or another. If none does in time, nothing is
 * removed and `Unavailable` is thrown; a repeat continues. Repeating a removal writes no second receipt. A revision
 * beyond the end of the stream means its end: an import recreates what a receipt says is gone.
 */
export const removeEvents = async (
  log: EventLog,
  decisions: Pick<Decisions, 'transact'>,
  asked: Removal,
  by: RemovedBy,
  { timeoutMs = TIMEOUT_MS }: RemoveOptions = {},
): Promise<void> => {
  const [last] = await log.readStream(asked.stream, { direction: 'backwards', limit: 1 });
  const removal = {
    ...asked,
    beforeRevision: Math.min(asked.beforeRevision, (last?.revision ?? asked.beforeRevision) + 1),
  };
  const receipt = await receiptOf(log, decisions, removal, by);
  if (receipt === undefined) return;
  await untilSealed(log, receipt, timeoutMs);
  await log.truncate(removal.stream, removal.beforeRevision);
};

/** The receipt that stands, or else a new one; undefined where there is nothing to remove. */
const receiptOf = async (
  log: EventLog,
  decisions: Pick<Decisions, 'transact'>,
  removal: Removal,
  by: RemovedBy,
): Promise<StoredEvent | undefined> => {
  const current = await receiptFor(log, removal);
  if (current !== undefined) return current;
  const [first] = await log.readStream(removal.stream, { limit: 1 });
  if (first === undefined) return undefined;
  const commandId = nameId(first.id, `removed/${removal.beforeRevision}`);
  await decisions.transact(removals, REMOVALS_ID, removal, { commandId, correlationId: commandId, ...by });
  return receiptFor(log, removal);
};

const receiptFor = async (log: EventLog, { stream, beforeRevision }: Removal): Promise<StoredEvent | undefined> =>
  (await log.readStream(REMOVAL_STREAM)).find((event) => {
    const receipt = removalReceipt(event);
    return receipt?.stream === stream && receipt.beforeRevision >= beforeRevision;
  });

/** Asks the log and not a sealer, which may run in another process. */
const untilSealed = async (log: EventLog, receipt: StoredEvent, timeoutMs: number): Promise<void> => {
  const ordinals = new SealedOrdinals(log, new SealArchive(log));
  for (
    const deadline = performance.now() + timeoutMs;
    !(await ordinals.of([receipt])).has(receipt.id);
    await pause(POLL_MS)
  ) {
    if (performance.now() > deadline)
      throw new Unavailable('the sealer', `the receipt ${receipt.id} is not sealed yet`);
  }
};

/** The receipt in an event; undefined for what is none: a verifier finds it by its seal. */
export const removalReceipt = ({
  id,
  type,
  data,
}: Pick<StoredEvent, 'id' | 'type' | 'data'>): RemovalReceipt | undefined => {
  const removal = type === 'EventsRemoved' ? EventsRemoved.data.safeParse(jsonOf(data)).data : undefined;
  return removal === undefined ? undefined : { ...removal, receiptId: id };
};

/** The furthest receipt of each stream, sealed or not. */
export const receiptsOf = (
  events: readonly Pick<StoredEvent, 'id' | 'type' | 'data'>[],
): ReadonlyMap<string, RemovalReceipt> => {
  const receipts = new Map<string, RemovalReceipt>();
  for (const event of events) {
    const receipt = removalReceipt(event);
    if (receipt !== undefined && receipt.beforeRevision >= (receipts.get(receipt.stream)?.beforeRevision ?? 0))
      receipts.set(receipt.stream, receipt);
  }
  return receipts;
};
