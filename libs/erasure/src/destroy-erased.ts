import { type EventLog, type EventPlace, holdsPlace, lastPlace } from '@app/event-log';
import { type Aggregates, type Position, type StoredEvent, storedObject } from '@app/kernel';
import type { Vault } from '@app/vault';

const PAGE = 500;

export interface DestroyErasedParts {
  readonly log: Pick<EventLog, 'readAll' | 'readStream'>;
  readonly vault: Pick<Vault, 'destroy' | 'note' | 'setNote'>;
  readonly aggregates: Pick<Aggregates, 'erasedByStored' | 'erasingTypes'>;
}

/**
 * Destroys the keys of what the log knows as deleted, in a vault that may be older than the log: its keys were destroyed
 * once, and the receipts say so, upon which no policy looks again. The vault notes up to which event that was done for its
 * keys; an older one notes an earlier event, or none.
 */
export const destroyErased = async ({ log, vault, aggregates }: DestroyErasedParts): Promise<void> => {
  const noted = storedObject((await vault.note()) ?? '') as EventPlace | undefined;
  const last = await lastPlace(log);
  let after: Position | null = noted !== undefined && (await holdsPlace(log, noted)) ? noted.position : null;
  if (last === null || last.position === after) return;
  for (let end = false; !end;) {
    const page = await log.readAll({ after, limit: PAGE, filter: { types: aggregates.erasingTypes } });
    const selectors = page.events.flatMap((event: StoredEvent) => aggregates.erasedByStored(event) ?? []);
    await Promise.all(selectors.map((selector) => vault.destroy(selector)));
    ({ end, next: after } = page);
  }
  await vault.setNote(JSON.stringify(last));
};
