import { decisionsInMemory, ids, meta } from '../../../test/fixtures/decisions-in-memory';
import type { Forgetting } from './memory/forgetting';
import { type MemoryCommand, memoryDecider } from './memory/memory.decider';
import { memoryEvents } from './memory/memory.events';
import { ProposalExpiry } from './proposal-expiry';

const screening = { version: '1' };
const MINUTE_MS = 60_000;
const NOON = Date.parse('2030-01-01T12:00:00.000Z');

/** Proposals by when they lapse, what became of each meanwhile, and which of them are discarded at which times. */
const discardedAt = async (
  expiries: readonly { readonly at: number; readonly meanwhile?: MemoryCommand }[],
  times: readonly number[],
): Promise<readonly (readonly number[])[]> => {
  const { decisions } = decisionsInMemory(memoryEvents);
  const open = await Promise.all(
    expiries.map(async ({ at, meanwhile }) => {
      const [memoryId, agentId, spaceId, userId] = [ids.next(), ids.next(), ids.next(), ids.next()];
      const made = { memoryId, agentId, spaceId, userId, kind: 'personal', text: 'Tea', hash: 'h', screening } as const;
      const memory = { ...made, origin: 'user', source: null, replaces: null } as const;
      const expiresAt = new Date(at).toISOString();
      await decisions.transact(memoryDecider, memoryId, { type: 'Propose', memory, expiresAt }, meta());
      if (meanwhile !== undefined) await decisions.transact(memoryDecider, memoryId, meanwhile, meta());
      return { memoryId, expiresAt };
    }),
  );
  let [now, discarded]: [number, number[]] = [0, []];
  const expire: Forgetting['expire'] = async (memoryId) =>
    void discarded.push(open.findIndex((each) => each.memoryId === memoryId));
  const expiry = new ProposalExpiry(
    decisions,
    // Of it only what is called is there.
    { expire } as Forgetting,
    { now: () => new Date(now) },
    { firstToExpire: async () => open },
  );
  const all: (readonly number[])[] = [];
  for (const time of times) {
    [now, discarded] = [time, []];
    await expiry.discardExpired();
    all.push(discarded);
  }
  return all;
};

describe('proposals that nobody chose anything for', () => {
  it('are discarded once their time is over, and no others', async () => {
    expect(await discardedAt([{ at: NOON }, { at: NOON + 1 }], [NOON])).toEqual([[0]]);
  });

  it('stay as they were chosen where the view does not know of that yet', async () => {
    const meanwhile = { type: 'Confirm', screening } as const;
    expect(await discardedAt([{ at: NOON, meanwhile }], [NOON])).toEqual([[]]);
  });

  it('are looked for once a minute', async () => {
    expect(await discardedAt([{ at: NOON }], [NOON, NOON + MINUTE_MS - 1, NOON + MINUTE_MS])).toEqual([[0], [], [0]]);
  });

  it('are looked for also once the clock was set back, not only when it is as late again', async () => {
    const early = NOON - 60 * MINUTE_MS;
    expect(await discardedAt([{ at: early }], [NOON, early])).toEqual([[0], [0]]);
  });
});
