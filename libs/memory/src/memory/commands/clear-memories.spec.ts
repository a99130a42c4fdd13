import { InstanceSecret } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../../test/fixtures/decisions-in-memory';
import { bucketEvents } from '../../bucket/bucket.events';
import { Places } from '../../bucket/places';
import { Forgetting } from '../forgetting';
import { memoryDecider } from '../memory.decider';
import { memoryEvents, type MemoryKind } from '../memory.events';
import { type Cleared, ClearMemories, ClearMemoriesHandler } from './clear-memories';

const [AGENT, SPACE, USER, OTHER] = [ids.next(), ids.next(), ids.next(), ids.next()];

/** Saved memories of two users, all of which the view names, whatever it is asked for; which of them are left. */
const leftBy = async (cleared: Cleared): Promise<readonly string[]> => {
  const { log, decisions } = decisionsInMemory([...memoryEvents, ...bucketEvents]);
  const most = { MEMORY_PERSONAL_MAX: 9, MEMORY_SHARED_MAX: 9 };
  const forgetting = new Forgetting(decisions, new Places(decisions, new InstanceSecret(Buffer.alloc(32)), ids, most));
  const names = new Map<string, string>();
  const save = async (name: string, userId: string, kind: MemoryKind): Promise<void> => {
    const memoryId = ids.next();
    const known = { memoryId, agentId: AGENT, spaceId: SPACE, userId, kind, text: name, hash: name };
    const memory = { ...known, origin: 'user', source: null, replaces: null, screening: { version: '1' } } as const;
    await decisions.transact(memoryDecider, memoryId, { type: 'Save', memory }, meta());
    names.set(memoryId, name);
  };
  await save('own', USER, 'personal');
  await save('own, shared', USER, 'shared');
  await save("another's", OTHER, 'personal');
  await save("another's, shared", OTHER, 'shared');
  const handler = new ClearMemoriesHandler(decisions, forgetting, log, async () => [...names.keys()]);
  await handler.execute(new ClearMemories(USER, [cleared], meta()));
  const left: string[] = [];
  for (const [memoryId, name] of names)
    if ((await decisions.load(memoryDecider, memoryId)).state.status === 'saved') left.push(name);
  return left;
};

it.each<[string, Cleared, readonly string[]]>([
  ['those of a user', { of: 'user' }, ['own, shared', "another's", "another's, shared"]],
  ['those from a conversation', { of: 'conversation', conversationId: ids.next() }, ["another's", "another's, shared"]],
  ['those of everybody', { of: 'everybody', agentId: AGENT }, ['own', "another's"]],
])('clears %s alone, also where the view names others', async (_, cleared, left) => {
  expect(await leftBy(cleared)).toEqual(left);
});
