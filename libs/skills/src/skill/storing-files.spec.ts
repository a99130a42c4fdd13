import { Unavailable } from '@app/kernel';
import { StoringFiles } from './storing-files';

const FILE = { path: 'a.md', mediaType: 'text/markdown', sha256: '0'.repeat(64) };

describe('files of a save of which one cannot be stored', () => {
  it('say why, also where what was stored cannot be removed', async () => {
    let ended = 0;
    const storing = new StoringFiles<typeof FILE>({
      blobs: {
        group: () => ({
          put: async () => ({ name: 'f'.repeat(32), size: 1 }),
          durable: () => Promise.reject(new Unavailable('blobs', 'the disk is full')),
        }),
        remove: () => Promise.reject(new Unavailable('blobs', 'the store is away')),
      },
      before: undefined,
      store: async (file, put) => ({
        ...file,
        file: await put('skill-1', () => Buffer.from('a'), {}),
        sizeBytes: 1,
        findings: [],
      }),
      end: () => (ended += 1),
    });
    storing.add(FILE);
    await expect(storing.end()).rejects.toThrow('the disk is full');
    expect(ended).toBe(1);
  });
});
