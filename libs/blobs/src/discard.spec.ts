import { Unavailable } from '@app/kernel';
import { discardBodies } from './discard';

describe('bodies that nothing names', () => {
  it('change no answer where they cannot be removed, or not soon; a fault of ours is told', async () => {
    const away = new Unavailable('blobs', 'no answer');
    await discardBodies({ remove: () => Promise.reject(away) }, ['a']);
    await discardBodies({ remove: () => new Promise(() => undefined) }, ['a']);
    await expect(discardBodies({ remove: () => Promise.reject(new TypeError('ours')) }, ['a'])).rejects.toThrow('ours');
  });

  it('are removed in one request, and none is made for none', async () => {
    const removed: (readonly string[])[] = [];
    const blobs = { remove: async (names: readonly string[]) => void removed.push(names) };
    await discardBodies(blobs, []);
    await discardBodies(blobs, ['a', 'b']);
    expect(removed).toEqual([['a', 'b']]);
  });
});
