import type { Caller } from '@app/access';
import { TimeOrderedIds } from '@app/kernel';
import { SkillLimit, type StoredUpload } from '@app/skills';
import { until } from '../../../../../test/fixtures/until';
import { SkillTransfers } from './skill-transfers';

const MIB = 1024 ** 2;
const ids = new TimeOrderedIds();

const opened = (largest = 3 * MIB) => {
  const stored = new Map<string, Buffer>();
  const state = { read: 0, stored: 0 };
  const transfers = new SkillTransfers(new SkillLimit({ SKILL_MAX_FILES: 10, SKILL_MAX_BYTES: largest - MIB }), {
    store: async (_, body) => {
      const pieces: Buffer[] = [];
      for await (const piece of body) pieces.push(piece);
      const upload = {
        skillId: ids.next(),
        name: ids.next(),
        size: pieces.reduce((sum, each) => sum + each.length, 0),
      };
      state.stored += 1;
      stored.set(upload.name, Buffer.concat(pieces));
      return upload as StoredUpload;
    },
    read: async ({ name }) => {
      state.read += 1;
      return stored.get(name);
    },
    remove: async ({ name }) => void stored.delete(name),
  });
  const receive = (
    userId: string,
    body: AsyncIterable<Buffer>,
    use: (bytes: Buffer) => Promise<unknown>,
    most = largest,
  ) =>
    transfers.receive(
      { userId } as Caller,
      async (take) => ({ file: { filename: 'a.zip', body: await take(body, { bytes: most, reason: 'skill_file' }) } }),
      ({ file }) => use(file.bytes),
    );
  return { stored, state, receive };
};
/** So many bytes, in pieces, and then what a test waits for. */
async function* body(bytes: number, then: () => Promise<unknown> = async () => undefined): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; at += 65_536) yield Buffer.alloc(Math.min(65_536, bytes - at), at / 65_536);
  await then();
}
const wholeBody = async (bytes: number): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of body(bytes)) pieces.push(piece);
  return Buffer.concat(pieces);
};

describe('an upload', () => {
  it.each([0, 100, MIB, MIB + 1, 3 * MIB])('of %i bytes is given whole, and nothing of it stays', async (bytes) => {
    const { receive, stored } = opened();
    const sent = await wholeBody(bytes);
    expect(await receive('u', body(bytes), async (given) => given.equals(sent))).toBe(true);
    expect(stored.size).toBe(0);
  });

  it('that is large is in memory once it is whole and those of its user before are done', async () => {
    const { receive, state } = opened();
    const slow = Promise.withResolvers<void>();
    const first = Promise.withResolvers<void>();
    const used: string[] = [];
    const use = (name: string, held?: Promise<void>) => async () => {
      used.push(name);
      await held;
    };
    const all = [
      receive(
        'u',
        body(2 * MIB, () => slow.promise),
        use('slow'),
      ),
      receive('u', body(2 * MIB), use('first', first.promise)),
      receive('u', body(2 * MIB), use('second')),
      receive('u', body(100), use('small')),
      receive('v', body(2 * MIB), use('other')),
    ];
    await until(() => used.length === 3, 'those that need not wait');
    expect(used.toSorted()).toEqual(['first', 'other', 'small']);
    expect(state.read).toBe(2);
    first.resolve();
    await until(() => used.includes('second'), 'the next');
    slow.resolve();
    await Promise.all(all);
    expect(used.at(-1)).toBe('slow');
  });

  it('of up to a sixth of the largest is in memory as it comes, one of each user and four of all; others are stored, and none waits', async () => {
    const { receive, state } = opened(12 * MIB);
    const slow = Promise.withResolvers<void>();
    const use = async () => 'used';
    const held = ['a', 'b', 'c', 'd'].map((user) =>
      receive(
        user,
        body(2 * MIB, () => slow.promise),
        use,
      ),
    );
    expect(await receive('a', body(2 * MIB), use)).toBe('used');
    expect(await receive('e', body(2 * MIB), use)).toBe('used');
    expect(state.stored).toBe(2);
    slow.resolve();
    await Promise.all(held);
    expect(state.stored).toBe(2);
    const cut = () => Promise.reject(new Error('cut'));
    for (let time = 0; time < 5; time += 1) await expect(receive('a', body(2 * MIB, cut), use)).rejects.toThrow('cut');
    expect(await receive('a', body(2 * MIB), use)).toBe('used');
    expect(state.stored).toBe(2);
    expect(await receive('a', body(2 * MIB + 1), use)).toBe('used');
    expect(await receive('a', body(2 * MIB), use)).toBe('used');
    expect(state.stored).toBe(3);
  });

  it('that is too large, cut off or rejected leaves nothing, and its room to others', async () => {
    const { receive, stored } = opened();
    const use = async () => 'used';
    const cut = () => Promise.reject(new Error('cut'));
    await expect(receive('u', body(3 * MIB + 1), use)).rejects.toMatchObject({
      code: 'too_large',
      facts: { reason: 'skill_file', limit: 3 * MIB },
    });
    await expect(receive('u', body(2 * MIB, cut), use)).rejects.toThrow('cut');
    await expect(receive('u', body(3 * MIB), () => Promise.reject(new Error('no Skill')))).rejects.toThrow('no Skill');
    expect(stored.size).toBe(0);
    expect(await receive('u', body(3 * MIB), use)).toBe('used');
  });

  it('is not used where its user was deleted before it was read', async () => {
    const { receive, stored } = opened();
    const use = jest.fn(async () => 'used');
    const first = Promise.withResolvers<void>();
    const before = receive('u', body(3 * MIB), () => first.promise);
    const waiting = receive('u', body(3 * MIB), use);
    await until(() => stored.size === 2, 'both stored');
    stored.clear();
    first.resolve();
    await before;
    await expect(waiting).rejects.toMatchObject({ code: 'not_found' });
    expect(use).not.toHaveBeenCalled();
  });
});
