import type { EventLog, EventMac, LogReader } from '@app/event-log';
import {
  type AnyEvent,
  type Clock,
  defineEvent,
  type EventCodec,
  type EventOf,
  nameId,
  type Position,
  type StoredEvent,
} from '@app/kernel';
import { z } from 'zod';
import { jsonOf } from './json';

/** The stream in which the sealer says what carried no valid MAC. */
export const UNPROVEN_STREAM = 'unproven-1';

/** Why an event is not sealed: it carries no MAC or a wrong one, or it is a duplicate. */
export type UnprovenReason = 'no_mac' | 'wrong_mac' | 'repeated';

export const UnprovenTailSealed = defineEvent({
  type: 'UnprovenTailSealed',
  description:
    'From here on every event carries a MAC. Earlier events without one that were not sealed yet are sealed once, as they were found.',
  data: z.strictObject({
    /** Ordinal of the last seal before; 0 where there was none. */
    after: z.number().int().nonnegative(),
    /** Events behind it that are sealed without a MAC, and the ids of the first and the last of them. */
    events: z.number().int().nonnegative(),
    first: z.string().optional(),
    last: z.string().optional(),
    /** An earlier version wrote the log, or it was imported. */
    reason: z.enum(['earlier_version', 'import']),
  }),
});

export const UnprovenEventsFound = defineEvent({
  type: 'UnprovenEventsFound',
  description: 'The log holds events that nobody with `SEAL_KEY` appended. They are not sealed.',
  data: z.strictObject({
    /** In log order. */
    events: z
      .array(
        z.strictObject({
          id: z.string(),
          stream: z.string(),
          revision: z.number().int(),
          reason: z.enum(['no_mac', 'wrong_mac', 'repeated']),
        }),
      )
      .min(1),
    /** How many were found so far, these among them. */
    total: z.number().int().positive(),
  }),
});

/** The kinds of event by which the sealer says so, for the catalogue. */
export const unprovenEvents = [UnprovenTailSealed, UnprovenEventsFound] as const;

export type AcceptedTail = EventOf<typeof UnprovenTailSealed>['data'];
export type UnprovenEvents = EventOf<typeof UnprovenEventsFound>['data'];

/** What the sealer found unproven so far. */
export interface KnownUnproven {
  readonly events: number;
  /** When it last found some, ISO 8601 UTC; null for never. */
  readonly at: string | null;
}

/** Most of the latest records that are looked through for one with a valid MAC. */
const MOST_READ = 200;
const SPACE = '6ba7b812-9dad-11d1-80b4-00c04fd430c8';

/** What is known by now, whichever process seals. */
export const knownUnproven = async (log: Pick<LogReader, 'readStream'>, mac: EventMac): Promise<KnownUnproven> => {
  const found = await lastOf(log, mac, UnprovenEventsFound.type);
  if (found === undefined) return { events: 0, at: null };
  const { recordedAt } = JSON.parse(found.metadata) as { readonly recordedAt: string };
  return { events: UnprovenEventsFound.data.parse(jsonOf(found.data)).total, at: recordedAt };
};

/** The tail that was accepted last, by somebody with the key. */
export const acceptedTail = async (
  log: Pick<LogReader, 'readStream'>,
  mac: EventMac,
): Promise<AcceptedTail | undefined> => {
  const found = await lastOf(log, mac, UnprovenTailSealed.type);
  return found === undefined ? undefined : UnprovenTailSealed.data.parse(jsonOf(found.data));
};

/** The records after a position: a start finds them again if they were not sealed yet. */
export const recordedBehind = async (
  log: Pick<LogReader, 'readStream'>,
  mac: EventMac,
  position: Position | null,
): Promise<ReadonlySet<string>> => {
  const records = (await recordsIn(log, mac, UnprovenEventsFound.type)).filter(
    (record) => position === null || record.position > position,
  );
  return new Set(records.flatMap(({ data }) => UnprovenEventsFound.data.parse(jsonOf(data)).events.map(recordKey)));
};

/** Names an event in what was recorded of unproven ones. */
export const recordKey = ({ id, stream, revision }: UnprovenEvents['events'][number]): string =>
  `${id} ${revision} ${stream}`;

/** Throws `WrongExpectedRevision` when somebody else records something at the same time. */
export const recordUnproven = async (
  { log, codec, clock }: { readonly log: EventLog; readonly codec: EventCodec; readonly clock: Clock },
  event: AnyEvent & EventOf<(typeof unprovenEvents)[number]>,
  name: string,
): Promise<void> => {
  const [last] = await log.readStream(UNPROVEN_STREAM, { direction: 'backwards', limit: 1 });
  const commandId = nameId(SPACE, `${last?.id ?? ''}/${name}`);
  const encoded = await codec.encode(
    UNPROVEN_STREAM,
    [event],
    { commandId, correlationId: commandId, actor: 'system:sealer', now: clock.now() },
    {},
  );
  await log.append(UNPROVEN_STREAM, encoded, last?.revision ?? 'noStream');
};

const lastOf = async (
  log: Pick<LogReader, 'readStream'>,
  mac: EventMac,
  type: string,
): Promise<StoredEvent | undefined> => (await recordsIn(log, mac, type))[0];

/**
 * The records of a type with a valid MAC, the newest first: anybody with access to the disk can append others without
 * the key.
 */
const recordsIn = async (
  log: Pick<LogReader, 'readStream'>,
  mac: EventMac,
  type: string,
): Promise<readonly StoredEvent[]> => {
  const events = await log.readStream(UNPROVEN_STREAM, { direction: 'backwards', limit: MOST_READ });
  return events.filter((event) => event.type === type && mac.check(event) === 'proven');
};
