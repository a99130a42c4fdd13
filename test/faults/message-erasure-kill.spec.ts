import { filesWhere } from '../fixtures/files-under';
import { until } from '../fixtures/until';
import { call, killedProduct, receipts } from './killed-product';
import { inRound, rounds, seededNumbers } from './log/rounds';

/** Kill -9 at a random moment between the deletion of messages and their receipts. */
const WORD = 'Quillbranth';
const number = seededNumbers();

const { dataDir, start } = killedProduct('message-erasure');
const filesWith = (word: string): readonly string[] => filesWhere(dataDir(), (bytes) => bytes.includes(word));

interface Messages {
  readonly items: readonly { readonly id: string; readonly parts: readonly { readonly text?: string }[] }[];
}

test('a message whose erasure was killed is gone from every file after the next start, with one receipt', async () => {
  for (let round = 0; round < rounds(1); round += 1)
    await inRound(round, async () => {
      let child = await start();
      const { id: agent } = await call<{ id: string }>(child, 'core/agents', 'POST', {
        name: 'Guide',
        knowledgeEnabled: false,
      });
      const path = `core/llm/${agent}/conversation`;
      const { conversationId } = await call<{ conversationId: string }>(child, path, 'POST', {
        message: `What is ${WORD}?`,
      });
      await call(child, path, 'POST', { conversationId, message: 'What is kept?' });
      const messages = (await call<Messages>(child, `${path}/${conversationId}/messages`)).items;
      const [keptAnswer, kept, answer, question] = messages;
      expect(filesWith(WORD)).not.toEqual([]);
      const deleted = [question?.id, answer?.id].map(String);
      await Promise.all(deleted.map((id) => call(child, `${path}/${conversationId}/messages/${id}`, 'DELETE')));
      // The moment of the kill, drawn anew each time: no state is waited for.
      await new Promise((resolve) => setTimeout(resolve, number(100)));
      child.kill('SIGKILL');
      await child.exited;

      child = await start();
      const erased = async () =>
        (await receipts(child))
          .flatMap(({ things }) => things)
          .filter((thing) => thing.startsWith(`conversation-${conversationId}`))
          .toSorted();
      const wanted = deleted.map((id) => `conversation-${conversationId}/${id}`).toSorted();
      await until(async () => (await erased()).length >= wanted.length, 'the receipts');
      expect(await erased()).toEqual(wanted);
      const left = (await call<Messages>(child, `${path}/${conversationId}/messages`)).items;
      expect(left.map(({ id }) => id)).toEqual([keptAnswer?.id, kept?.id]);
      expect(left[1]?.parts[0]?.text).toBe('What is kept?');
      if (!JSON.stringify(left).includes(WORD)) expect(filesWith(WORD)).toEqual([]);
      await child.stop();
    });
});
