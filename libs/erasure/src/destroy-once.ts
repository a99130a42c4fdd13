import type { KeySelector, Uuid } from '@app/kernel';
import type { Vault } from '@app/vault';
import { LRUCache } from 'lru-cache';

/** Destroys the keys of a deletion, by the id of its event, for a policy. Answers the streams. Rejects as the vault does. */
export type DestroyOnce = (policy: string, eventId: Uuid, selector: KeySelector) => Promise<readonly string[]>;

interface Asked {
  readonly policy: string;
  readonly destroyed: Promise<readonly string[]>;
}

/** Deletions of which only one policy has asked so far. The other destroys anew what is forgotten here. */
const MOST_ASKED = 1_000;

/**
 * Both policies of erasure destroy the keys of each deletion: the one that asks later is given what came of it for the other, since a
 * destroyed key stays destroyed. Who asks once more destroys anew.
 */
export const destroyOnce = (vault: Pick<Vault, 'destroy'>): DestroyOnce => {
  const asked = new LRUCache<Uuid, Asked>({ max: MOST_ASKED });
  return (policy, eventId, selector) => {
    const other = asked.get(eventId);
    asked.delete(eventId);
    if (other !== undefined && other.policy !== policy) return other.destroyed;
    const destroyed = vault.destroy(selector);
    asked.set(eventId, { policy, destroyed });
    return destroyed;
  };
};
