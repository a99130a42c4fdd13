import type { EventLog } from '@app/event-log';
import type { ReadStore } from '@app/read-store';
import type { Vault } from '@app/vault';
import { assertWhole } from './missing-store';

/** Stores with what a start looks at: the end of the log, a key in the vault, and where the views stand. */
const stores = (
  head: string | null,
  hasKeys: boolean,
  checkpoint: { readonly position: string | null; readonly handled: number } | undefined,
) => ({
  log: { head: async () => head } as EventLog,
  vault: {
    records: async function* () {
      if (hasKeys) yield { stream: 'agent-1' };
    },
  } as unknown as Vault,
  readStore: {
    live: async () => (checkpoint === undefined ? undefined : 1),
    checkpoint: async () => checkpoint,
  } as unknown as ReadStore,
});

describe('stores that belong together', () => {
  it.each([
    ['nothing at all', stores(null, false, undefined)],
    ['views that were made, over an empty log', stores(null, false, { position: null, handled: 0 })],
    [
      'views that came by what others wrote to the server, and by nothing of ours',
      stores(null, false, { position: '00000000000000000042', handled: 0 }),
    ],
    ['a log with its keys', stores('1', true, { position: '1', handled: 1 })],
  ])('are accepted where there is %s', async (_name, given) => expect(await assertWhole(given)).toBeUndefined());

  it.each([
    ['the log is gone', stores(null, true, { position: '1', handled: 1 }), 'The log is empty'],
    ['the vault is gone', stores('1', false, { position: '1', handled: 1 }), 'the vault is empty'],
  ])('are none where %s', async (_name, given, sentence) => {
    await expect(assertWhole(given)).rejects.toMatchObject({
      name: 'MissingStore',
      message: expect.stringContaining(sentence),
    });
  });
});
