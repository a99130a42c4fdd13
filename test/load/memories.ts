import { TimeOrderedIds } from '@app/kernel';
import { memoryDecider } from '@app/memory';
import { openDecisions } from './writing';

const CALLERS = 64;
/** Memories of each user. */
const EACH = 100;

/** Writes personal memories of many users with one Agent through the decider, as commands do. */
export const fillWithMemories = async (
  dataDir: string,
  at: { readonly agentId: string; readonly spaceId: string },
  count: number,
): Promise<void> => {
  const stores = await openDecisions(dataDir);
  const ids = new TimeOrderedIds();
  const users = Array.from({ length: Math.ceil(count / EACH) }, () => ids.next());
  let written = 0;
  const write = async (): Promise<void> => {
    while (written < count) {
      const number = written++;
      const [memoryId, commandId] = [ids.next(), ids.next()];
      const memory = {
        ...at,
        memoryId,
        userId: users[number % users.length] as string,
        kind: 'personal',
        text: `I prefer metric units in report number ${number}.`,
        hash: `load-${number}`,
        origin: 'user',
        source: null,
        replaces: null,
        screening: { version: 'load' },
      } as const;
      const meta = { commandId, correlationId: commandId, actor: 'system:load', now: new Date() };
      await stores.decisions.transact(memoryDecider, memoryId, { type: 'Save', memory }, meta);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, write));
  await stores.close();
};
