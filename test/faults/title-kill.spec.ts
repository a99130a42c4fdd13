import { writeModelsFile } from '../fixtures/models-file';
import { completion, json, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { until } from '../fixtures/until';
import { ask, call, killedProduct } from './killed-product';

/** Kill -9 while a model thinks of a title, and a stop: the conversation is titled after the next start, once. */
const product = killedProduct('title-kill');

let modelsFile: string;
let upstream: UpstreamDouble;
let asked: number;
let isSilent: boolean;
beforeEach(async () => {
  upstream = await startUpstreamDouble();
  [asked, isSilent] = [0, true];
  const models = [
    { key: 'chat', kind: 'chat', pricing: 'free' },
    { key: 'titles', kind: 'chat', pricing: 'free' },
  ];
  modelsFile = writeModelsFile(product.folder(), upstream, models, { titleModel: 'titles' });
  const { behaviour } = upstream;
  upstream.behaviour = (response, call) => {
    if (call.body['model'] !== 'titles') return behaviour(response, call);
    asked += 1;
    return isSilent ? undefined : json(response, 200, completion({ content: 'Ferries' }, 'titles'));
  };
});
afterEach(() => upstream.stop());

const start = () => product.start({ MODELS_FILE: modelsFile });

test.each(['killed', 'stopped'] as const)(
  'a conversation whose process was %s while a model thought of its title is titled after the next start, once',
  async (how) => {
    let child = await start();
    const agent = { name: 'Guide', model: 'chat', knowledgeEnabled: false };
    const { id } = await call<{ id: string }>(child, 'core/agents', 'POST', agent);
    const path = `core/llm/${id}/conversation`;
    const { conversationId } = await call<{ conversationId: string }>(child, path, 'POST', { message: 'When?' });
    await until(() => asked === 1, 'the call');
    isSilent = false;
    if (how === 'killed') child.kill('SIGKILL');
    // Nobody waits for a title: one that was waited for in vain would not be asked for again.
    await (how === 'killed' ? child.exited : child.stop());
    child = await start();
    const read = async () => (await ask<{ title: string }>(child, `${path}/${conversationId}`)).body;
    await until(async () => (await read()).title === 'Ferries', 'the title');
    await child.stop();
    child = await start();
    const types = await call<{ items: readonly { type: string }[] }>(
      child,
      `audit/events?stream=conversation-${conversationId}`,
    );
    await child.stop();
    expect([types.items.filter(({ type }) => type === 'ConversationTitled').length, asked]).toEqual([1, 2]);
  },
);
