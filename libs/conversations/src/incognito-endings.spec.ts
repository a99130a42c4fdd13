import { IncognitoEndings } from './incognito-endings';
import type { IncognitoConversations } from './incognito/incognito-conversations';
import type { StreamReader } from '@app/kernel';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Endings over a log with these events at the ends of its streams. */
const setUp = (last: Readonly<Record<string, string>>) => {
  const participants = [
    { userId: 'u1', agentId: 'a1' },
    { userId: 'u1', agentId: 'deleted' },
    { userId: 'deleted', agentId: 'a1' },
    { userId: 'suspended', agentId: 'a1' },
  ];
  const [endOld, gone, warn, reads] = [jest.fn(), [] as unknown[], jest.fn(), [] as string[]];
  let isAway = false;
  const conversations: Pick<IncognitoConversations, 'endOld' | 'endGone'> = {
    endOld,
    endGone: async (isGone) => {
      for (const each of participants) if (await isGone(each)) gone.push(each);
    },
  };
  const log = {
    readStream: async (stream: string) => {
      reads.push(stream);
      if (isAway) throw new Error('away');
      return stream in last ? [{ type: last[stream] }] : [];
    },
  } as unknown as StreamReader; // Nothing else of it, nor of an event, is asked for.
  const endings = new IncognitoEndings(conversations as IncognitoConversations, log, { warn }); // Only these two.
  return { endings, endOld, gone, warn, reads, setAway: (away: boolean) => (isAway = away) };
};

it('incognito conversations end while the process runs: old ones, and those whose user or Agent is deleted', async () => {
  const { endings, endOld, gone, reads } = setUp({
    'agent-deleted': 'AgentDeleted',
    'agent-a1': 'AgentChanged',
    'user-deleted': 'UserDeleted',
    'user-suspended': 'UserSuspended',
  });
  endings.onModuleInit();
  await jest.advanceTimersByTimeAsync(3_000);
  expect(endOld).toHaveBeenCalledTimes(1);
  expect(gone).toEqual([
    { userId: 'u1', agentId: 'deleted' },
    { userId: 'deleted', agentId: 'a1' },
  ]);
  expect(reads.toSorted()).toEqual(['agent-a1', 'agent-deleted', 'user-deleted', 'user-suspended', 'user-u1']);
  await endings.onModuleDestroy();
  await jest.advanceTimersByTimeAsync(30_000);
  expect(endOld).toHaveBeenCalledTimes(1);
});

it('a look that fails is told, and there is another', async () => {
  const { endings, gone, warn, setAway } = setUp({ 'user-deleted': 'UserDeleted' });
  setAway(true);
  endings.onModuleInit();
  await jest.advanceTimersByTimeAsync(3_000);
  expect([gone.length, warn.mock.calls.length]).toEqual([0, 1]);
  setAway(false);
  await jest.advanceTimersByTimeAsync(3_000);
  expect(gone).toEqual([{ userId: 'deleted', agentId: 'a1' }]);
  await endings.onModuleDestroy();
});
