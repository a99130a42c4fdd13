import type { RemovalReceipt } from '../removal';

/** What can be wrong. The names are shown to auditors and kept stable. */
export type FindingKind =
  /** The stored event is not the one that was sealed. */
  | 'changed'
  /** A sealed event is gone, or several are, and no receipt that is sealed itself says why. */
  | 'missing'
  /** An event stands among the sealed ones that no seal knows. */
  | 'inserted'
  /** An event that was sealed stands in the log a second time. */
  | 'repeated'
  /** A sealed event stands in another order than it was sealed in. */
  | 'reordered'
  /** The store cannot give an event back as it was written. */
  | 'unreadable'
  | 'seal_unreadable'
  | 'seal_missing'
  /** The seal before is not the one that this seal was bound to. */
  | 'seal_chain'
  /** The hashes in the seal do not give its root. */
  | 'seal_root'
  | 'seal_signature'
  /** Signed with a key that the verifier does not trust. */
  | 'seal_key'
  /** The log ends before a seal that the verifier knows. */
  | 'tail_cut'
  /** The seal that the verifier knows is not in the log. */
  | 'known_seal_replaced'
  /** Another program wrote into a stream of ours, which is not written any more. */
  | 'foreign'
  /** An export file is not as it was written. */
  | 'file';

/** Something wrong, with its place as far as it is known. */
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

/** A stretch of events that was removed rightfully. */
export interface RemovedEvents extends RemovalReceipt {
  /** How many sealed events are gone. */
  readonly events: number;
}

/** The receipt of an erasure, as it stands in the log. */
export interface Erasure {
  readonly receiptId: string;
  readonly stream: string;
  readonly revision: number;
  /** Position, where the source knows positions. */
  readonly position: string;
  readonly receipt: unknown;
}

/** An event that no seal covers, and nothing proves. */
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

export interface Verification {
  readonly ok: boolean;
  /** Sealed events found as they were sealed. */
  readonly events: number;
  readonly seals: number;
  /** The last seal, to be noted and given as `since` next time; null for a log without seals. */
  readonly lastSeal: KnownSeal | null;
  /** Events after the last seal: nothing proves them yet. */
  readonly unsealed: { readonly events: number; /** `recordedAt` of the first. */ readonly since: string | null };
  /** Those events, the first `MOST_LISTED`. While a product runs, the last second is not sealed yet; it never seals what nobody with its key appended. */
  readonly unproven: readonly UnprovenEvent[];
  /** Events under seals that do not say that they carried MACs: an earlier version sealed them, or they were accepted as they were found. */
  readonly withoutMacs: { readonly events: number; /** Ordinal of the last of them. */ readonly upTo: number };
  /** Events of other programs on the same server: they are no part of the log. */
  readonly foreign: ForeignEvents;
  readonly removals: readonly RemovedEvents[];
  readonly erasures: readonly Erasure[];
  /** Public keys' ids that signed the seals. */
  readonly keyIds: readonly string[];
  /** The first `MOST_LISTED`. */
  readonly findings: readonly Finding[];
  readonly findingsInAll: number;
}

/** Most findings, removals or erasures that are listed; all are counted. */
export const MOST_LISTED = 1_000;

/** A seal that somebody noted: its last ordinal and its hash. */
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
