import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnusedKeys } from '@app/blobs';
import { Decisions, EventCatalogue, EventCodec, type KeySelector, TimeOrderedIds, Unavailable } from '@app/kernel';
import { MemoryKeyring } from '../../../blobs/src/blobs.contract';
import { openFileBlobs } from '../../../blobs/src/files/file-blobs';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { StoredUploads } from './stored-uploads';

const ids = new TimeOrderedIds();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'uploads-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Over files in a folder; `keys` are those that were made and not destroyed. */
const opened = async () => {
  const keyring = new MemoryKeyring();
  const keys = new Map<string, unknown>();
  const vault = {
    ensureKey: (stream: string, owner: unknown) => {
      keys.set(stream, owner);
      return keyring.ensureKey(stream);
    },
    keys: (streams: readonly string[]) => keyring.keys(streams),
    destroy: async (selector: KeySelector) => {
      const stream = 'stream' in selector ? selector.stream : '';
      keyring.destroy(stream);
      return keys.delete(stream) ? [stream] : [];
    },
  };
  const blobs = await openFileBlobs({ folder, vault });
  const decisions = new Decisions(new MemoryLog(), new EventCodec(new EventCatalogue([]), vault));
  const uploads = new StoredUploads(blobs, ids, decisions, new UnusedKeys(vault));
  return { uploads, blobs, vault, keys };
};
const files = () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
async function* body(then: () => Promise<unknown> = async () => undefined): AsyncGenerator<Buffer> {
  for (let piece = 0; piece < 5; piece += 1) yield Buffer.alloc(100_000, 'a');
  await then();
}

describe('an upload that is stored', () => {
  it('is read whole, under a key of its own that goes with its user, and leaves neither bytes nor key', async () => {
    const { uploads, keys } = await opened();
    const [first, second] = [await uploads.store('u', body()), await uploads.store('u', body())];
    expect([...keys]).toEqual([first, second].map(({ skillId }) => [`skill-${skillId}`, { userId: 'u' }]));
    expect((await uploads.read(first))?.equals(Buffer.alloc(500_000, 'a'))).toBe(true);
    expect(first.size).toBe(500_000);
    await uploads.remove(first);
    expect([[...keys.keys()], files().map(({ name }) => name)]).toEqual([[`skill-${second.skillId}`], [second.name]]);
    await uploads.remove(second);
    expect([keys.size, files()]).toEqual([0, []]);
  });

  it('leaves neither bytes nor key where it breaks off, and says why', async () => {
    const { uploads, keys } = await opened();
    await expect(
      uploads.store(
        'u',
        body(() => Promise.reject(new Error('gone'))),
      ),
    ).rejects.toThrow('gone');
    expect([keys.size, files()]).toEqual([0, []]);
  });

  it('is gone where its user was deleted meanwhile, and is removed all the same', async () => {
    const { uploads, vault } = await opened();
    const upload = await uploads.store('u', body());
    await vault.destroy({ stream: `skill-${upload.skillId}` });
    expect(await uploads.read(upload)).toBeUndefined();
    await uploads.remove(upload);
    expect(files()).toEqual([]);
  });

  it('fails nothing that was done where it cannot be removed now: the sweep finds it', async () => {
    const { uploads, blobs, keys } = await opened();
    const upload = await uploads.store('u', body());
    jest.spyOn(blobs, 'remove').mockRejectedValueOnce(new Unavailable('files', 'away'));
    await uploads.remove(upload);
    expect([keys.size, files().length]).toEqual([0, 1]);
  });
});
