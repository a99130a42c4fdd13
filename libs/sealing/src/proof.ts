import type { NewEvent } from '@app/kernel';
import { contentHash, leafHash, type SealedEvent } from './event-hash';
import { merklePath, rootOfPath } from './merkle';
import { headOf, sealedEvents, type SealHead, signedText } from './seal';
import type { ArchivedSeal } from './seal-archive';
import { isSignedBy, keyIdOf, publicKeyOf } from './seal-key';

/** The proof of an event: its seal, and the hashes from the event to the seal's root. */
export interface Proof {
  readonly event: SealedEvent;
  readonly ordinal: number;
  /** Place in the seal, from 0, and number of events under it. */
  readonly index: number;
  readonly size: number;
  /** SHA-256 hashes in hex, nearest to the event first. */
  readonly path: readonly string[];
  readonly seal: SealHead;
}

/** The proof of an event under a seal; undefined when the seal does not cover it. */
export const proofOf = ({ seal }: ArchivedSeal, eventId: string): Proof | undefined => {
  const events = sealedEvents(seal);
  const index = events.findIndex(({ id }) => id === eventId);
  const event = events[index];
  if (event === undefined) return undefined;
  const path = merklePath(events.map(leafHash), index).map((hash) => hash.toString('hex'));
  return { event, ordinal: seal.fromOrdinal + index, index, size: events.length, path, seal: headOf(seal) };
};

/** Whether a proof holds for an event as it is stored, under a public key that the verifier trusts. */
export const verifyProof = (
  proof: Proof,
  event: Pick<NewEvent, 'id' | 'type' | 'data' | 'metadata'> & { readonly stream: string; readonly revision: number },
  publicKey: string,
): boolean => {
  const sealed: SealedEvent = {
    id: event.id,
    stream: event.stream,
    revision: event.revision,
    content: contentHash(event),
  };
  const root = rootOfPath(
    leafHash(sealed),
    proof.index,
    proof.size,
    proof.path.map((hash) => Buffer.from(hash, 'hex')),
  );
  const { seal } = proof;
  const isInPlace =
    proof.ordinal === seal.fromOrdinal + proof.index && proof.size === seal.ordinal - seal.fromOrdinal + 1;
  return (
    isInPlace &&
    root?.toString('hex') === seal.root &&
    seal.keyId === keyIdOf(publicKey) &&
    isSignedBy(publicKeyOf(publicKey), signedText(seal), seal.signature)
  );
};
