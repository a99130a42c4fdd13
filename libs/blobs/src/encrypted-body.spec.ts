import { type Keyring, Unavailable } from '@app/kernel';
import type { StoredBytes } from './blob-cipher';
import { newBlobName } from './blobs';
import { openBody, storeBody } from './encrypted-body';

/** All that opening asks a vault for. */
const vault = { keys: async ([stream = '']) => new Map([[stream, Buffer.alloc(32)]]) } as Pick<
  Keyring,
  'keys'
> as Keyring;

/** Found each time as said, and empty when it is read. */
const opened = (...found: readonly boolean[]) => {
  const looks = [...found];
  const stored: StoredBytes = { size: 100, stride: 65_536, read: async () => Buffer.alloc(0) };
  return openBody(vault, 'document-1', newBlobName(), async () => (looks.shift() === true ? stored : undefined));
};

describe('a body whose key the vault did not confirm', () => {
  it('is not stored, and nothing may have been', async () => {
    const away = { ...vault, ensureKey: () => Promise.reject(new Unavailable('vault', 'no answer', 'unknown')) };
    const write = jest.fn();
    await expect(storeBody(away, 'document-1', Buffer.from('a'), {}, write)).rejects.toMatchObject({ outcome: 'none' });
    expect(write).not.toHaveBeenCalled();
  });
});

describe('a body without its first bytes', () => {
  it('is gone where it was removed between the look for it and the first read', async () => {
    expect(await opened(true, false)).toBeUndefined();
  });

  it('is damaged where it is still there', async () => {
    await expect(opened(true, true)).rejects.toMatchObject({ name: 'BlobDamaged' });
  });
});
