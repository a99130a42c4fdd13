import type { RemovalReceipt } from '../removal';

/** Kinds of findings. Their names are shown to auditors and stay stable. */
export type FindingKind =
  /** The stored event differs from the sealed one. */
  | 'changed'
  /** One or more sealed events are gone, and no sealed receipt says why. */
  | 'missing'
  /** An event among sealed ones is listed by no seal. */
  | 'inserted'
  /** A sealed event is in the log a second time. */
  | 'repeated'
  /** Sealed events are in another order than they were sealed in. */
  | 'reordered'
  /** The store cannot return an event as it was written. */
  | 'unreadable'
  | 'seal_unreadable'
  | 'seal_missing'
  /** The seal before is not the one that this seal is chained to. */
  | 'seal_chain'
  /** The hashes in the seal do not match its root. */
  | 'seal_root'
  | 'seal_signature'
  /** Signed with a key that the verifier does not trust. */
  | 'seal_key'
  /** The log ends before a seal that the verifier knows. */
  | 'tail_cut'
  /** The seal that the verifier knows is not in the log. */
  | 'known_seal_replaced'
  /** Another program wrote into one of our streams, which can no longer be written. */
  | 'foreign'
  /** An export file was changed. */
  | 'file';

/** A finding, with its place as far as known. */
export interface Finding {
  readonly kind: FindingKind;
  /** One sentence, without content. */
  readonly detail: string;
  readonly ordinal?: number;
  readonly stream?: string;
  readonly revision?: number;
  readonly id?: string;
  readonly position?: string;
}

/** A range of events that was removed rightfully. */
export interface RemovedEvents extends RemovalReceipt {
  /** How many sealed events are gone. */
  readonly events: number;
}

/** The receipt of an erasure in the log. */
export interface Erasure {
  readonly receiptId: string;
  readonly stream: string;
  readonly revision: number;
  /** Position, where the source knows positions. */
  readonly position: string;
  readonly receipt: unknown;
}

/** An event that no seal covers, so nothing proves it. */
export interface UnprovenEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: string;
}

/** What other programs wrote to the server of the log. */
export interface ForeignEvents {
  readonly events: number;
  /** The first of them: its position, and when the server took it (ISO 8601 UTC). */
  readonly since: { readonly position: string; readonly at: string } | null;
}

/** What verification found of a log. */
export interface Verification {
  readonly ok: boolean;
  /** Sealed events found as they were sealed. */
  readonly events: number;
  readonly seals: number;
  /** The last seal. Note it and pass it as `since` next time. Null for a log without seals. */
  readonly lastSeal: KnownSeal | null;
  /** Events after the last seal. Nothing proves them yet. */
  readonly unsealed: { readonly events: number; /** `recordedAt` of the first. */ readonly since: string | null };
  /**
   * The first `MOST_LISTED` of them. A running product has not sealed its last second yet, and never seals events that
   * were appended without its key.
   */
  readonly unproven: readonly UnprovenEvent[];
  /** Events under seals that do not vouch for MACs: sealed by an earlier version, or imported. */
  readonly withoutMacs: { readonly events: number; /** Ordinal of the last of them. */ readonly upTo: number };
  /** Events of other programs on the same server. They are not part of the log. */
  readonly foreign: ForeignEvents;
  readonly removals: readonly RemovedEvents[];
  /** Under seals, the first `MOST_LISTED`. */
  readonly erasures: readonly Erasure[];
  readonly erasuresInAll: number;
  /** Public keys' ids that signed the seals. */
  readonly keyIds: readonly string[];
  /** The first `MOST_LISTED`. */
  readonly findings: readonly Finding[];
  readonly findingsInAll: number;
}

/** Most findings, removals or erasures to list. All are counted. */
export const MOST_LISTED = 1_000;

/** A noted seal: its last ordinal and its hash. */
export interface KnownSeal {
  readonly ordinal: number;
  readonly hash: string;
}

/** A known seal as text: `<ordinal>:<hash>`. */
export const knownSealText = ({ ordinal, hash }: KnownSeal): string => `${ordinal}:${hash}`;

/** Undefined for text that is none. */
export const parseKnownSeal = (text: string): KnownSeal | undefined => {
  const [, ordinal, hash] = /^([1-9]\d{0,15}):([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  return ordinal === undefined || hash === undefined ? undefined : { ordinal: Number(ordinal), hash };
};
