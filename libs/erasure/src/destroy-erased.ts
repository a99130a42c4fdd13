import { type EventLog, type EventPlace, holdsPlace, lastPlace, placeOf } from '@app/event-log';
import { type Aggregates, type Clock, type Position, type StoredEvent, storedObject } from '@app/kernel';
import type { Vault } from '@app/vault';

const PAGE = 500;
/** After so many milliseconds, and again whenever as many have passed, it is said how far this is, and noted. */
const TELL_MS = 5_000;

export interface DestroyErasedParts {
  readonly log: Pick<EventLog, 'readAll' | 'readStream'>;
  readonly vault: Pick<Vault, 'destroy' | 'note' | 'setNote'>;
  readonly aggregates: Pick<Aggregates, 'erasedByStored' | 'erasingTypes'>;
  readonly clock: Clock;
  readonly logger: { info(facts: object, message: string): void };
}

/**
 * Destroys the keys of what the log knows as deleted, in a vault that may be older than the log: its keys were destroyed
 * once, and the receipts say so, upon which no policy looks again. The vault notes up to which event that was done for its
 * keys; an older one notes an earlier event, or none. That may be the whole log, and nothing is served meanwhile: so it says how
 * far it is, and goes on there where it is cut short.
 */
export const destroyErased = async ({ log, vault, aggregates, clock, logger }: DestroyErasedParts): Promise<void> => {
  const noted = storedObject((await vault.note()) ?? '') as EventPlace | undefined;
  const last = await lastPlace(log);
  let after: Position | null = noted !== undefined && (await holdsPlace(log, noted)) ? noted.position : null;
  if (last === null || last.position === after) return;
  let told = clock.now().getTime();
  for (let end = false; !end;) {
    const page = await log.readAll({ after, limit: PAGE, filter: { types: aggregates.erasingTypes } });
    const selectors = page.events.flatMap((event: StoredEvent) => aggregates.erasedByStored(event) ?? []);
    await Promise.all(selectors.map((selector) => vault.destroy(selector)));
    ({ end, next: after } = page);
    const now = clock.now().getTime();
    if (end || now - told < TELL_MS) continue;
    told = now;
    logger.info(
      { position: after, head: last.position },
      'Reading the log for deletions to destroy any remaining keys. Requests are served afterwards.',
    );
    const done = page.events.at(-1);
    if (done !== undefined) await vault.setNote(JSON.stringify(placeOf(done)));
  }
  await vault.setNote(JSON.stringify(last));
};
