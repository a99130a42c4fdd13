import { chunk, completion, DONE, events, json, startUpstreamDouble, usageChunk } from '../fixtures/upstream-double';
import { until } from '../fixtures/until';
import { writeModelsFile } from '../fixtures/models-file';
import { call, killedProduct } from './killed-product';

/** Kill -9 while the summary of a conversation is made, before a question is answered. */
const EXCHANGES = 4;

const { folder, start: startWith } = killedProduct('compaction');

interface Turn {
  readonly conversationId: string;
  readonly message: { readonly id: string };
}
interface Messages {
  readonly items: readonly {
    readonly role: string;
    readonly status: string;
    readonly parts: readonly { readonly text?: string }[];
  }[];
}

test('a summary that was killed leaves the conversation as it was, and the next question has one made', async () => {
  const upstream = await startUpstreamDouble();
  let summaries = 0;
  upstream.behaviour = (response, { body }) => {
    if (JSON.stringify(body).includes('Summarise a conversation between')) {
      summaries += 1;
      // The first one never comes.
      return summaries === 1 ? undefined : json(response, 200, completion({ content: 'They spoke of zebras.' }, 'm'));
    }
    return events(response, chunk({ content: 'word '.repeat(100) }), chunk({}, 'stop'), usageChunk(), DONE).end();
  };
  const models = writeModelsFile(folder(), upstream, [{ key: 'm', kind: 'chat', pricing: 'free' }], {
    defaultModel: 'm',
    titleModel: null,
  });
  const start = () => startWith({ MODELS_FILE: models, LOG_LEVEL: 'error', CONVERSATION_CONTEXT_TOKENS: '1200' });
  let child = await start();
  try {
    const { id: agent } = await call<{ id: string }>(child, 'core/agents', 'POST', {
      name: 'Guide',
      knowledgeEnabled: false,
    });
    const path = `core/llm/${agent}/conversation`;
    const question = 'zebra '.repeat(100);
    let { conversationId } = await call<Turn>(child, path, 'POST', { message: question });
    for (let made = 1; made < EXCHANGES; made += 1)
      ({ conversationId } = await call<Turn>(child, path, 'POST', { conversationId, message: question }));
    expect(summaries).toBe(0);
    const lost = call<Turn>(child, path, 'POST', { conversationId, message: question.repeat(5) }).catch(
      (error: Error) => error,
    );
    await until(async () => summaries === 1, 'the first summary');
    child.kill('SIGKILL');
    await child.exited;
    expect(await lost).toBeInstanceOf(Error);

    child = await start();
    const messages = async () => (await call<Messages>(child, `${path}/${conversationId}/messages?limit=50`)).items;
    const closed = async () => (await messages()).some(({ status }) => status === 'failed');
    await until(closed, 'the end of the lost answer');
    expect((await call<{ items: object[] }>(child, `${path}/${conversationId}/checkpoints`)).items).toEqual([]);
    expect(await messages()).toHaveLength(2 * EXCHANGES + 2);
    await call<Turn>(child, path, 'POST', { conversationId, message: 'And now?' });
    expect(summaries).toBeGreaterThan(1);
    const { items } = await call<{ items: { summary: string }[] }>(child, `${path}/${conversationId}/checkpoints`);
    expect(items.map(({ summary }) => summary)).toEqual(['They spoke of zebras.']);
    expect(await messages()).toHaveLength(2 * EXCHANGES + 4);
  } finally {
    await child.stop();
    await upstream.stop();
  }
});
