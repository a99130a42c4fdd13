import { hash } from 'node:crypto';
import { canonicalJson, type CommandMeta, defineEvent, type EventOf, nameId } from '@app/kernel';
import { z } from 'zod';
import type { SealedEvent } from './event-hash';
import { merkleRoot } from './merkle';
import type { SealKey } from './seal-key';

/** What stands for the seal before the first. */
export const NO_SEAL = '0'.repeat(64);
/** Most events under one seal. */
export const SEAL_SIZE = 1_000;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const LogSealed = defineEvent({
  type: 'LogSealed',
  description: 'A range of the log was sealed: the hashes of its events, signed and chained to the seal before.',
  data: z.strictObject({
    /** Ordinals of the first and the last event under the seal. */
    fromOrdinal: z.number().int().positive(),
    ordinal: z.number().int().positive(),
    /** Merkle root over the leaves of `events`. */
    root: sha256,
    /** Hash of the seal before; zeros for the first. */
    previous: sha256,
    keyId: z.string().regex(/^[0-9a-f]{16}$/),
    at: z.iso.datetime(),
    signature: z.string().regex(/^[\w-]{86}$/),
    /**
     * All events under the seal carried a MAC of the signer. Absent in seals of earlier versions and over an accepted
     * tail without MACs.
     */
    authenticated: z.literal(true).optional(),
    /** `id revision contentHash stream` of each event, in log order. */
    events: z.array(z.string()).min(1),
  }),
});

export type Seal = EventOf<typeof LogSealed>['data'];
/** What a seal signs: enough to check its signature and its place in the chain. */
export type SealHead = Omit<Seal, 'events'>;

/** The kinds of event that the sealer appends, for the catalogue. */
export const sealEvents = [LogSealed] as const;

/** The events that a seal names, in their order. */
export const sealedEvents = (seal: Seal): readonly SealedEvent[] => seal.events.map(sealedEvent);

/** The id in an entry of a seal. */
export const sealedId = (entry: string): string => entry.slice(0, entry.indexOf(' '));

/** A stream's name may hold spaces, so it stands last. */
const entryOf = ({ id, stream, revision, content }: SealedEvent): string => `${id} ${revision} ${content} ${stream}`;

/** What an entry of a seal says. */
export const sealedEvent = (entry: string): SealedEvent => {
  const [id = '', revision = '', content = ''] = entry.split(' ', 3);
  return {
    id,
    revision: Number(revision),
    content,
    stream: entry.slice(id.length + revision.length + content.length + 3),
  };
};

/** The part of a seal that is signed, with its signature. */
export const headOf = ({
  fromOrdinal,
  ordinal,
  root,
  previous,
  keyId,
  at,
  authenticated,
  signature,
}: Seal): SealHead => ({
  fromOrdinal,
  ordinal,
  root,
  previous,
  keyId,
  at,
  ...(authenticated && { authenticated }),
  signature,
});

/** The text that is signed. */
export const signedText = ({
  fromOrdinal,
  ordinal,
  root,
  previous,
  keyId,
  at,
  authenticated,
}: Omit<SealHead, 'signature'>): string =>
  `agent-platform/seal/1\n${canonicalJson({ fromOrdinal, ordinal, root, previous, keyId, at, authenticated })}`;

/** The hash that names a seal and binds the next one to it. */
export const sealHash = (head: SealHead): string => hash('sha256', `${signedText(head)}\n${head.signature}`);

/** Seals events, with their leaves, after those under `last`; `authenticated` if each of them carries a valid MAC. */
export const makeSeal = (
  last: SealHead | undefined,
  events: readonly (SealedEvent & { readonly leaf: Buffer })[],
  authenticated: boolean,
  key: SealKey,
  at: Date,
): Seal => {
  const fromOrdinal = (last?.ordinal ?? 0) + 1;
  const head = {
    fromOrdinal,
    ordinal: fromOrdinal + events.length - 1,
    root: merkleRoot(events.map(({ leaf }) => leaf)).toString('hex'),
    previous: last === undefined ? NO_SEAL : sealHash(last),
    keyId: key.keyId,
    at: at.toISOString(),
    ...(authenticated && { authenticated }),
  };
  return { ...head, signature: key.sign(signedText(head)), events: events.map(entryOf) };
};

/** The other data of a seal's event: derived from the seal, so a verifier knows them too. */
export const metaOfSeal = ({ events, signature, at }: Seal): CommandMeta => {
  const commandId = nameId(sealedId(events[0] ?? ''), signature);
  return { commandId, correlationId: commandId, actor: 'system:sealer', now: new Date(at) };
};
