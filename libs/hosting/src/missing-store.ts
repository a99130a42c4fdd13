import type { EventLog } from '@app/event-log';
import type { ReadStore } from '@app/read-store';
import type { Vault } from '@app/vault';
import { projections } from './projections';

/** A store is empty that others have seen full: its folder or its database is not the one that it was. */
export class MissingStore extends Error {
  override readonly name = 'MissingStore';
}

/** Throws `MissingStore` rather than begin anew beside what is left: nobody could sign in, and what is written from then on would hide the loss. */
export const assertWhole = async ({
  log,
  vault,
  readStore,
}: {
  readonly log: EventLog;
  readonly vault: Vault;
  readonly readStore: ReadStore;
}): Promise<void> => {
  const seen = await furthestSeen(readStore);
  const head = await log.head();
  if (head === null && seen !== null)
    throw new MissingStore(
      `The log is empty, but the views have followed it to ${seen}, so this is another log. Put the old one back (DATA_DIR/log, EVENTSTORE_URL), or restore a backup. To start from scratch, remove the views too.`,
    );
  if (head !== null && (await isEmpty(vault)))
    throw new MissingStore(
      'The log holds events, but the vault is empty: their data keys are missing. Put the vault back (DATA_DIR/vault, MONGODB_URL), or restore with --keys.',
    );
};

const furthestSeen = async (readStore: ReadStore): Promise<string | null> => {
  for (const { kind, name } of projections) {
    const version = kind === 'rows' ? await readStore.live(name) : undefined;
    const checkpoint = version === undefined ? undefined : await readStore.checkpoint(name, version);
    // A view may have come by what others wrote to the server, and by nothing of ours.
    if (checkpoint !== undefined && checkpoint.handled > 0) return checkpoint.position;
  }
  return null;
};

const isEmpty = async (vault: Vault): Promise<boolean> => {
  for await (const record of vault.records()) return record === undefined;
  return true;
};
