import type { EventLog } from '@app/event-log';
import { defineEvent, type EventCodec, type EventOf, nameId } from '@app/kernel';
import { z } from 'zod';
import { jsonOf } from './json';

/** The stream of the receipts of removals. */
export const REMOVAL_STREAM = 'removals-1';

export const EventsRemoved = defineEvent({
  type: 'EventsRemoved',
  description: 'Events of a stream were removed from the log rightfully; their hashes stay under the seals.',
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

/** How far a stream was removed rightfully, and the event that says so. */
export interface RemovalReceipt extends Removal {
  readonly receiptId: string;
}

/**
 * Removes the events of a stream before a revision. The receipt is written first: without it a verifier takes the removal
 * for tampering. Removing again what is removed writes no second receipt.
 */
export const removeEvents = async (log: EventLog, codec: EventCodec, removal: Removal, by: { readonly actor: string; readonly now: Date }): Promise<void> => {
  const receipts = await log.readStream(REMOVAL_STREAM);
  const isKnown = receipts.some((event) => isCovered(JSON.parse(event.data) as Removal, removal));
  if (!isKnown) {
    const [first] = await log.readStream(removal.stream, { limit: 1 });
    if (first === undefined) return;
    const commandId = nameId(first.id, `removed/${removal.beforeRevision}`);
    await log.append(REMOVAL_STREAM, await codec.encode(REMOVAL_STREAM, [{ type: 'EventsRemoved', data: removal }], { commandId, correlationId: commandId, ...by }, {}), receipts.at(-1)?.revision ?? 'noStream');
  }
  await log.truncate(removal.stream, removal.beforeRevision);
};

const isCovered = (receipt: Removal, removal: Removal): boolean => receipt.stream === removal.stream && receipt.beforeRevision >= removal.beforeRevision;

/** The furthest receipt of each stream. What is no receipt is passed over: a verifier finds it by its seal. */
export const receiptsOf = (events: readonly { readonly id: string; readonly data: string }[]): ReadonlyMap<string, RemovalReceipt> => {
  const receipts = new Map<string, RemovalReceipt>();
  for (const { id, data } of events) {
    const removal = EventsRemoved.data.safeParse(jsonOf(data)).data;
    if (removal !== undefined && removal.beforeRevision >= (receipts.get(removal.stream)?.beforeRevision ?? 0)) receipts.set(removal.stream, { ...removal, receiptId: id });
  }
  return receipts;
};
