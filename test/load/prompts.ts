import { deriveId, TimeOrderedIds } from '@app/kernel';
import { promptDecider } from '@app/spaces';
import { openDecisions } from './writing';

const PROMPTS = 2_000;
const CALLERS = 64;

/** Writes prompts and changes of them through the decider, as commands do. */
export const fillWithPrompts = async (dataDir: string, events: number): Promise<void> => {
  const stores = await openDecisions(dataDir);
  const ids = new TimeOrderedIds();
  const spaceId = ids.next();
  const meta = () => {
    const commandId = ids.next();
    return { commandId, correlationId: commandId, actor: 'system:load', now: new Date() };
  };
  const prompts = Array.from({ length: PROMPTS }, (_, index) => deriveId(ids.next(), String(index)));
  let written = 0;
  const write = async (): Promise<void> => {
    while (written < events) {
      const number = written++;
      const text = `Prompt ${number}: summarise the attached minutes in five sentences.`;
      const command =
        number < PROMPTS
          ? ({ type: 'Create', spaceId, fields: { title: `Prompt ${number}`, text, tags: [] } } as const)
          : ({ type: 'Update', fields: { text } } as const);
      await stores.decisions.transact(promptDecider, prompts[number % PROMPTS] as string, command, meta());
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, write));
  await stores.close();
};
