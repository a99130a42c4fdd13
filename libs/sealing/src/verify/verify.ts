import type { StoredEvent } from '@app/kernel';
import { sealedEvents } from '../seal';
import { Alignment } from './alignment';
import { ClaimedRemovals } from './claimed-removals';
import { Findings } from './findings';
import { SealChain } from './seal-chain';
import { SealedErasures } from './sealed-erasures';
import { ForeignTally } from './foreign-tally';
import { type KnownSeal, MOST_LISTED, type Verification } from './verification';
import { isDamage, type VerifySource } from './verify-source';

/** How a log is verified; `done` and `total` are events. */
export interface VerifyOptions {
  /** Public keys that may have signed, base64url. If undefined, everything is checked except who signed. */
  readonly publicKeys: readonly string[] | undefined;
  /** A seal noted earlier. Finds a tail that was cut off since. */
  readonly since?: KnownSeal | undefined;
  readonly onProgress?: ((progress: { readonly done: number; readonly total: number }) => void) | undefined;
}

/** Proves a log unaltered, or finds each place where it is not. Holds a few thousand events at a time, however long the log is. */
export const verify = async (
  source: VerifySource,
  { publicKeys, since, onProgress }: VerifyOptions,
): Promise<Verification> => {
  const findings = new Findings();
  const erasures = new SealedErasures();
  const chain = new SealChain(publicKeys, since, findings);
  const removals = new ClaimedRemovals(await readReceipts(source, findings));
  const tally = new ForeignTally();
  const alignment = new Alignment(source.events(), removals, findings, erasures, (foreign) => tally.add(foreign));
  const total = onProgress === undefined ? 0 : await source.total();
  let done = 0;
  for await (const item of source.seals()) {
    if (isDamage(item)) {
      findings.add({
        kind: 'seal_unreadable',
        detail: item.damage,
        ...(item.position === undefined ? {} : { position: item.position }),
      });
      continue;
    }
    const link = chain.follow(item);
    if (link === undefined) continue;
    alignment.skip(link.skipped);
    for (const entry of sealedEvents(link.seal)) await alignment.expect(entry);
    done += link.seal.events.length;
    onProgress?.({ done, total: Math.max(done, total) });
  }
  const { first: unproven, ...unsealed } = await alignment.end();
  const lastSeal = chain.end();
  // A log whose seals were all removed must not pass as proven.
  if (lastSeal === null && findings.total === 0 && unsealed.events > 0)
    findings.add({ kind: 'seal_missing', detail: 'the log has no seal: nothing is proven' });
  const foreign = tally.end(findings);
  return {
    ok: findings.total === 0,
    events: alignment.events,
    seals: chain.seals,
    lastSeal,
    unsealed,
    unproven,
    withoutMacs: chain.withoutMacs,
    foreign,
    removals: removals.proven.slice(0, MOST_LISTED),
    erasures: erasures.list,
    erasuresInAll: erasures.total,
    keyIds: [...chain.keyIds],
    findings: findings.list,
    findingsInAll: findings.total,
  };
};

const readReceipts = async (source: VerifySource, findings: Findings): Promise<readonly StoredEvent[]> => {
  const events: StoredEvent[] = [];
  for await (const item of source.receipts()) {
    if (isDamage(item))
      findings.add({
        kind: 'unreadable',
        detail: item.damage,
        ...(item.position === undefined ? {} : { position: item.position }),
      });
    else events.push(item);
  }
  return events;
};
