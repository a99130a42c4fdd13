import { Map as PersistentMap } from 'immutable';
import { type Checkpoint, checkpointIn, checkpointSince, decideCheckpoint } from './checkpoints';

const at = (
  checkpointId: string,
  messageId: string,
  given: { part?: number; offset?: number; place?: number } = {},
) => {
  const { part = 0, offset = 0, place = 9 } = given;
  return { checkpointId, boundary: { messageId, part, offset }, place };
};
const all = (...checkpoints: readonly Checkpoint[]) =>
  PersistentMap(checkpoints.map((each) => [each.checkpointId, each] as const));
/** Two branches below `m1`. */
const parents = PersistentMap<string, string | null>([
  ['m1', null],
  ['a1', 'm1'],
  ['m2', 'a1'],
  ['m3', 'a1'],
]);
const places = PersistentMap([...parents.keys()].map((messageId, index) => [messageId, index] as const));

describe('a summary', () => {
  it('is recorded beside others in its message, one at each place', () => {
    const compact = (part: number, offset: number, checkpointId = 'c2') =>
      decideCheckpoint(
        {
          type: 'Compact',
          checkpointId,
          previousId: null,
          boundary: { messageId: 'a1', part, offset },
          messageIds: [],
          summary: 'Summary',
          tokensBefore: 2,
          tokensAfter: 1,
          model: 'local-chat',
          invocations: [],
          skillIds: [],
        },
        { conversationId: 'c', checkpoints: all(at('c1', 'a1', { part: 1, offset: 5 })), parents },
      );
    expect([compact(1, 5), compact(1, 6), compact(2, 5)].map((events) => events.length)).toEqual([0, 1, 1]);
    expect(compact(1, 6, 'c1')).toEqual([]);
  });

  it('is the furthest of those in a message', () => {
    const checkpoints = all(
      at('part', 'a1', { part: 1 }),
      at('furthest', 'a1', { part: 1, offset: 5 }),
      at('first', 'a1', { offset: 7 }),
      at('elsewhere', 'm2', { part: 3 }),
    );
    expect(checkpointIn(checkpoints, 'a1')?.checkpointId).toBe('furthest');
    expect(checkpointIn(checkpoints, 'm3')).toBeUndefined();
  });

  it('is of a branch since its last message if it was made behind it, in that branch', () => {
    const since = (last: string, ...checkpoints: readonly Checkpoint[]) =>
      checkpointSince(last, { checkpoints: all(...checkpoints), parents, places })?.checkpointId;
    expect(since('m2', at('older', 'm1'), at('newest', 'a1'), at('beside', 'm3'))).toBe('newest');
    expect(since('m2', at('before', 'a1', { place: 2 }))).toBeUndefined();
    expect(since('unknown', at('newest', 'a1'))).toBeUndefined();
  });
});
