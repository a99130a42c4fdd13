import { until } from '../fixtures/until';
import { ask, killedProduct } from './killed-product';
import { rounds, seededNumbers } from './log/rounds';

/** Fault 44: kill -9 at a random moment while a Space is deleted with what is in it. */
const AGENTS = 30;
const number = seededNumbers();

const { start } = killedProduct('deletion');

interface Events {
  readonly items: readonly { readonly stream: string }[];
}

test(
  'a Space whose deletion was killed is gone after the next start, with every Agent and prompt in it, each deleted once',
  async () => {
    for (let round = 0; round < rounds(1); round += 1) {
      let child = await start();
      const { body: space } = await ask<{ id: string }>(child, 'core/spaces', 'POST', { name: `Doomed ${round}` });
      const agents = await Promise.all(
        Array.from({ length: AGENTS }, (_, n) =>
          ask<{ id: string }>(child, 'core/agents', 'POST', { spaceId: space.id, name: `A${n}` }),
        ),
      );
      const { body: prompt } = await ask<{ id: string }>(child, `core/spaces/${space.id}/prompts`, 'POST', {
        title: 'T',
        text: 'x',
      });
      expect((await ask(child, `core/spaces/${space.id}`, 'DELETE')).status).toBe(204);
      await new Promise((resolve) => setTimeout(resolve, number(40)));
      child.kill('SIGKILL');
      await child.exited;

      child = await start();
      expect((await ask(child, `core/spaces/${space.id}`)).status).toBe(404);
      for (const { body } of agents) expect((await ask(child, `core/agents/${body.id}`)).status).toBe(404);
      for (const { body } of agents) {
        const deleted = () => ask<Events>(child, `audit/events?stream=agent-${body.id}&type=AgentDeleted`);
        await until(async () => (await deleted()).body.items.length > 0, 'the end of an Agent');
        expect((await deleted()).body.items).toHaveLength(1);
      }
      await until(
        async () =>
          (await ask<Events>(child, `audit/events?stream=prompt-${prompt.id}&type=PromptDeleted`)).body.items.length ===
          1,
        'the end of the prompt',
      );
      expect((await ask(child, 'core/spaces', 'POST', { name: `Doomed ${round}` })).status).toBe(201);
      await child.stop();
    }
  },
  120_000 * rounds(1),
);
