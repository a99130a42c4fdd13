import type { Child } from '../e2e/child';
import { filesWhere } from '../fixtures/files-under';
import { until } from '../fixtures/until';
import { call, killedProduct, receipts } from './killed-product';
import { inRound, rounds, seededNumbers } from './log/rounds';

/** Fault 44: kill -9 at a random moment while what was deleted is being erased. */
const WORD = 'Quillbranth';
const number = seededNumbers();

const { dataDir, start } = killedProduct('erasure');
const filesWith = (word: string): readonly string[] => filesWhere(dataDir(), (bytes) => bytes.includes(word));

const receiptsOf = async (child: Child, stream: string) =>
  (await receipts(child)).filter((receipt) => receipt.stream === stream);

test('content whose erasure was killed is gone from every file after the next start, with one receipt', async () => {
  for (let round = 0; round < rounds(1); round += 1)
    await inRound(round, async () => {
      let child = await start();
      const { id: space } = await call<{ id: string }>(child, 'core/spaces', 'POST', {
        name: `Doomed ${WORD} ${round}`,
      });
      const agents = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          call<{ id: string }>(child, 'core/agents', 'POST', {
            spaceId: space,
            name: `${WORD} ${n}`,
            systemPrompt: `Speak of ${WORD}.`,
          }),
        ),
      );
      expect(filesWith(WORD)).not.toEqual([]);
      await call(child, `core/spaces/${space}`, 'DELETE');
      await new Promise((resolve) => setTimeout(resolve, number(150)));
      child.kill('SIGKILL');
      await child.exited;

      child = await start();
      const streams = [`space-${space}`, ...agents.map(({ id }) => `agent-${id}`)];
      for (const stream of streams)
        await until(async () => (await receiptsOf(child, stream)).length > 0, `the receipt of ${stream}`);
      for (const stream of streams) expect(await receiptsOf(child, stream)).toHaveLength(1);
      expect((await receiptsOf(child, `space-${space}`))[0]?.things.toSorted()).toEqual(streams.toSorted());
      expect(filesWith(WORD)).toEqual([]);
      await child.stop();
    });
});
