import { Unavailable } from '@app/kernel';
import { StoringFiles, type StoringParts } from './storing-files';

const FILE = { path: 'a.md', mediaType: 'text/markdown', sha256: '0'.repeat(64) };

const store: StoringParts<typeof FILE>['store'] = async (file, put) => ({
  ...file,
  file: await put('skill-1', () => Buffer.from('a'), {}),
  sizeBytes: 1,
  findings: [],
});

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
      store,
      end: () => (ended += 1),
    });
    storing.add(FILE);
    await expect(storing.end()).rejects.toThrow('the disk is full');
    expect(ended).toBe(1);
  });
});

describe('files of a save that is rejected while they are stored', () => {
  it('go, and then what waits for that is told', async () => {
    const told: string[] = [];
    const storing = new StoringFiles<typeof FILE>({
      blobs: {
        group: () => ({ put: async () => ({ name: 'f'.repeat(32), size: 1 }), durable: async () => undefined }),
        remove: async (names) => void told.push(`removed ${names.length}`),
      },
      before: undefined,
      store,
      removed: async () => void told.push('nothing stays'),
    });
    const rejected = storing.orDiscard(async () => {
      storing.add(FILE);
      throw new Error('the archive ends early');
    });
    await expect(rejected).rejects.toThrow('the archive ends early');
    expect(told).toEqual(['removed 1', 'nothing stays']);
  });
});
