import { InstanceSecret } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../../test/fixtures/decisions-in-memory';
import { bucketDecider } from '../../bucket/bucket.decider';
import { bucketEvents } from '../../bucket/bucket.events';
import { bucketIdOf, bucketOf, Places } from '../../bucket/places';
import { ScreenedTexts } from '../../screened-texts';
import { Forgetting } from '../forgetting';
import { type MemoryCommand, memoryDecider } from '../memory.decider';
import { memoryEvents } from '../memory.events';
import { ChooseMemory, ChooseMemoryHandler } from './choose-memory';
import { CreateMemory, CreateMemoryHandler } from './create-memory';

const TEXT = 'Tea is in the kitchen';

/** Two proposals of two users to share one text. The first was chosen, and has the place for that. */
const setUp = async () => {
  const { log, decisions } = decisionsInMemory([...memoryEvents, ...bucketEvents]);
  const secret = new InstanceSecret(Buffer.alloc(32));
  const places = new Places(decisions, secret, ids, { MEMORY_PERSONAL_MAX: 9, MEMORY_SHARED_MAX: 9 });
  const screening = { version: '1' };
  const rescreen = (text: string) => ({ canonical: text, verdict: 'safe', rules: [], version: '1' }) as const;
  const screener = { screen: async (text: string) => rescreen(text), rescreen, version: '1' };
  const parts = [
    decisions,
    places,
    new ScreenedTexts(decisions, secret, screener),
    new Forgetting(decisions, places),
    async () => ({ personal: 'on', shared: 'on' }) as const,
    async () => 'use' as const,
  ] as const;
  const handler = new ChooseMemoryHandler(...parts);
  const creating = new CreateMemoryHandler(...parts, { MEMORY_PROPOSAL_DAYS: 30 }, log);
  const [agentId, spaceId] = [ids.next(), ids.next()];
  const bucket = bucketOf({ agentId, userId: ids.next(), kind: 'shared' });
  const hash = places.hashOf(bucket, TEXT);
  const decide = (memoryId: string, command: MemoryCommand) =>
    decisions.transact(memoryDecider, memoryId, command, meta());
  const propose = async () => {
    const [memoryId, userId] = [ids.next(), ids.next()];
    const made = { memoryId, agentId, spaceId, userId, kind: 'shared', text: TEXT, hash, screening } as const;
    const memory = { ...made, origin: 'user', source: null, replaces: null } as const;
    await decide(memoryId, { type: 'Propose', memory, expiresAt: '2030-01-01T00:00:00.000Z' });
    return { memoryId, userId };
  };
  const [first, second] = [await propose(), await propose()];
  const taken = { memoryId: first.memoryId, hash, replaces: null, screening, most: 9, ticket: ids.next() };
  const take = (more: { hash: string; use: 'confirm' | 'edit' }) =>
    decisions.transact(bucketDecider, bucketIdOf(bucket), { type: 'Take', ...bucket, ...taken, ...more }, meta());
  const confirm = async () => {
    const caller = { userId: second.userId, access: 'use' } as const;
    const chosen = await handler.execute(new ChooseMemory(caller, agentId, second.memoryId, 'confirm', meta()));
    return chosen.memoryId === second.memoryId ? 'its own' : 'the equal one';
  };
  /** Another user proposes the text, too. */
  const proposeAnew = async () => {
    const given = { agentId, spaceId, text: TEXT, kind: 'shared', origin: 'user', source: null } as const;
    const caller = { userId: ids.next(), access: 'use' } as const;
    const { status, isNew } = await creating.execute(new CreateMemory(caller, given, 'proposed', meta()));
    return { status, isNew };
  };
  /** An editor proposes the text to take the place of an outdated one that is saved, and confirms that. */
  const replace = async () => {
    const outdated = ids.next();
    const made = {
      memoryId: outdated,
      agentId,
      spaceId,
      userId: ids.next(),
      kind: 'shared',
      text: 'Tea is out',
    } as const;
    const memory = { ...made, hash: 'outdated', origin: 'user', source: null, replaces: null, screening } as const;
    await decide(outdated, { type: 'Save', memory });
    const caller = { userId: ids.next(), access: 'edit' } as const;
    const given = { agentId, spaceId, text: TEXT, kind: 'shared', origin: 'user', source: null } as const;
    const proposed = await creating.execute(
      new CreateMemory(caller, { ...given, replaces: outdated }, 'proposed', meta()),
    );
    const before = await statusOf(outdated);
    const { memoryId } = await handler.execute(new ChooseMemory(caller, agentId, proposed.memoryId, 'confirm', meta()));
    return { status: proposed.status, before, memoryId, after: await statusOf(outdated) };
  };
  const statusOf = async (memoryId: string) => (await decisions.load(memoryDecider, memoryId)).state.status;
  const isOver = () => statusOf(second.memoryId);
  return { first: first.memoryId, hash, take, decide, confirm, isOver, screening, proposeAnew, replace };
};

describe('a proposal whose text another memory has the place of', () => {
  it('is discarded for that one once it is saved', async () => {
    const { first, hash, take, decide, confirm, isOver, screening } = await setUp();
    await take({ hash, use: 'confirm' });
    const confirmed = confirm();
    await decide(first, { type: 'Confirm', screening });
    expect([await confirmed, await isOver()]).toEqual(['the equal one', 'discarded']);
  });

  it('is saved itself where that one was deleted, and its place is not given back yet', async () => {
    const { first, hash, take, decide, confirm, isOver, screening } = await setUp();
    await take({ hash, use: 'confirm' });
    await decide(first, { type: 'Confirm', screening });
    await decide(first, { type: 'Delete' });
    expect([await confirm(), await isOver()]).toEqual(['its own', 'saved']);
  });

  it('is saved itself where that one comes to be discarded', async () => {
    const { first, hash, take, decide, confirm, isOver } = await setUp();
    await take({ hash, use: 'confirm' });
    const confirmed = confirm();
    await decide(first, { type: 'Discard', reason: 'discarded' });
    expect([await confirmed, await isOver()]).toEqual(['its own', 'saved']);
  });
});

describe('a text that another memory has the place of', () => {
  it('is answered with that one while it is saved', async () => {
    const { first, hash, take, decide, screening, proposeAnew } = await setUp();
    await take({ hash, use: 'confirm' });
    await decide(first, { type: 'Confirm', screening });
    expect(await proposeAnew()).toEqual({ status: 'saved', isNew: false });
  });

  it('is proposed where that one was deleted, and its place is not given back yet', async () => {
    const { first, hash, take, decide, screening, proposeAnew } = await setUp();
    await take({ hash, use: 'confirm' });
    await decide(first, { type: 'Confirm', screening });
    await decide(first, { type: 'Delete' });
    expect(await proposeAnew()).toEqual({ status: 'proposed', isNew: true });
  });

  it('is proposed where it is to take the place of an outdated one, which goes once that is confirmed', async () => {
    const { first, hash, take, decide, screening, replace } = await setUp();
    await take({ hash, use: 'confirm' });
    await decide(first, { type: 'Confirm', screening });
    expect(await replace()).toEqual({ status: 'proposed', before: 'saved', memoryId: first, after: 'deleted' });
  });
});
