import type { KeyObject } from 'node:crypto';
import { withoutMac } from '@app/event-log';
import { eventId, type StoredEvent } from '@app/kernel';
import { leafHash } from '../event-hash';
import { jsonOf } from '../json';
import { merkleRoot } from '../merkle';
import { headOf, LogSealed, metaOfSeal, NO_SEAL, type Seal, sealedEvents, sealHash, signedText } from '../seal';
import { isSignedBy, keyIdOf, publicKeyOf } from '../seal-key';
import type { Findings } from './findings';
import type { KnownSeal } from './verification';

/** Where a seal stands. */
interface Place {
  readonly ordinal: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly position: string;
}

/** Checks the seals one after the other: each one's signature and root, and that it follows the previous one. */
export class SealChain {
  seals = 0;
  readonly keyIds = new Set<string>();
  /** Events under seals that do not say that each carried a MAC, and the ordinal of the last. */
  withoutMacs = { events: 0, upTo: 0 };
  private readonly trusted: ReadonlyMap<string, KeyObject> | undefined;
  private lastHash = NO_SEAL;
  private lastOrdinal = 0;
  private nextRevision = 0;
  /** By the id of a key that is not trusted: the place of its first seal, and how many there are. */
  private readonly unknownKeys = new Map<
    string,
    { readonly place: Place; readonly seals: number; readonly lastOrdinal: number }
  >();

  constructor(
    /** Undefined: whoever signed is taken. */
    publicKeys: readonly string[] | undefined,
    private readonly since: KnownSeal | undefined,
    private readonly findings: Findings,
  ) {
    this.trusted = publicKeys && new Map(publicKeys.map((text) => [keyIdOf(text), publicKeyOf(text)]));
  }

  /** The seal in an event, and how many ordinals before it have no seal; undefined when there is none in it. */
  follow(event: StoredEvent): { readonly seal: Seal; readonly skipped: number } | undefined {
    const place = { stream: event.stream, revision: event.revision, id: event.id, position: event.position };
    if (event.revision !== this.nextRevision)
      this.findings.add({
        kind: 'seal_missing',
        detail: `the seal of revision ${this.nextRevision} is gone`,
        ...place,
        ordinal: this.lastOrdinal + 1,
      });
    this.nextRevision = event.revision + 1;
    const seal = parseSeal(event);
    if (seal === undefined) {
      this.findings.add({
        kind: 'seal_unreadable',
        detail: 'an event in the stream of seals is not a seal',
        ...place,
        ordinal: this.lastOrdinal + 1,
      });
      return undefined;
    }
    const before = this.findings.total;
    this.check(seal, { ...place, ordinal: seal.ordinal });
    if (this.findings.total === before && !isAsWritten(event, seal))
      this.findings.add({
        kind: 'changed',
        detail: 'the event of the seal was changed',
        ...place,
        ordinal: seal.ordinal,
      });
    const skipped = Math.max(0, seal.fromOrdinal - 1 - this.lastOrdinal);
    this.seals += 1;
    if (seal.authenticated !== true)
      this.withoutMacs = { events: this.withoutMacs.events + seal.events.length, upTo: seal.ordinal };
    this.lastHash = sealHash(headOf(seal));
    this.lastOrdinal = seal.ordinal;
    return { seal, skipped };
  }

  /** Says which other keys signed, and whether the seal that the verifier knows was met. */
  end(): KnownSeal | null {
    for (const [keyId, { place, seals, lastOrdinal }] of this.unknownKeys) {
      const which = seals === 1 ? 'the seal is' : `${seals} seals up to that of ordinal ${lastOrdinal} are`;
      this.findings.add({
        kind: 'seal_key',
        detail: `${which} signed with the key ${keyId}, not with the expected one`,
        ...place,
      });
    }
    if (this.since !== undefined && this.lastOrdinal < this.since.ordinal) {
      this.findings.add({
        kind: 'tail_cut',
        detail: `the log was sealed up to ordinal ${this.since.ordinal} and its seals end at ${this.lastOrdinal}`,
        ordinal: this.lastOrdinal + 1,
      });
    }
    return this.lastOrdinal === 0 ? null : { ordinal: this.lastOrdinal, hash: this.lastHash };
  }

  private check(seal: Seal, place: Place): void {
    const key = this.trusted?.get(seal.keyId);
    this.keyIds.add(seal.keyId);
    if (key === undefined) this.addUnknownKey(seal, place);
    else if (!isSignedBy(key, signedText(seal), seal.signature))
      this.findings.add({ kind: 'seal_signature', detail: 'the signature of the seal is wrong', ...place });
    const isFull = seal.ordinal - seal.fromOrdinal + 1 === seal.events.length;
    if (!isFull || merkleRoot(sealedEvents(seal).map(leafHash)).toString('hex') !== seal.root)
      this.findings.add({ kind: 'seal_root', detail: 'the hashes in the seal do not match its root', ...place });
    if (seal.previous !== this.lastHash || seal.fromOrdinal !== this.lastOrdinal + 1) {
      this.findings.add({
        kind: 'seal_chain',
        detail: `the seal does not follow that of ordinal ${this.lastOrdinal}`,
        ...place,
      });
    }
    this.checkKnown(seal, place);
  }

  private addUnknownKey({ keyId, ordinal }: Seal, place: Place): void {
    if (this.trusted === undefined) return;
    const known = this.unknownKeys.get(keyId) ?? { place, seals: 0, lastOrdinal: ordinal };
    this.unknownKeys.set(keyId, { ...known, seals: known.seals + 1, lastOrdinal: ordinal });
  }

  private checkKnown(seal: Seal, place: object): void {
    const { since } = this;
    if (since === undefined || since.ordinal < seal.fromOrdinal || since.ordinal > seal.ordinal) return;
    if (since.ordinal === seal.ordinal && since.hash === sealHash(headOf(seal))) return;
    this.findings.add({
      kind: 'known_seal_replaced',
      detail: `the known seal of ordinal ${since.ordinal} is not in the log`,
      ...place,
    });
  }
}

/** Only the seal is signed, not its event: the other data of the event must follow from the seal. */
const isAsWritten = ({ id, metadata }: StoredEvent, seal: Seal): boolean => {
  const { commandId, actor, now } = metaOfSeal(seal);
  const written = {
    $correlationId: commandId,
    $causationId: commandId,
    commandId,
    actor,
    schema: '1',
    recordedAt: now.toISOString(),
  };
  return id === eventId(commandId, 0) && withoutMac(metadata) === JSON.stringify(written);
};

const parseSeal = (event: StoredEvent): Seal | undefined =>
  event.type === 'LogSealed' ? LogSealed.data.safeParse(jsonOf(event.data)).data : undefined;
