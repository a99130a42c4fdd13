import { until } from '../fixtures/until';
import {
  addDocument,
  api,
  ask,
  newAgent,
  platform,
  post,
  script,
  type ToolMessage,
  weather,
  withTools,
} from './http-tools-world';

withTools();

it('an answer that was made from documents waits for its call, goes on, and cites what was found before', async () => {
  const agentId = await newAgent({ knowledgeEnabled: true, tools: [weather({ approval: 'always' })] });
  await addDocument(agentId, 'ferries.md', '# Ferries\n\nThe ferry to Norderney leaves at nine.');
  script.push([{ name: 'weather_forecast', input: { city: 'Norderney' } }], 'At nine, if it does not rain [1].');
  const { status, body } = await ask(agentId, 'When does the ferry to Norderney leave?');
  expect([status, body.message.status]).toEqual([200, 'waiting']);
  const at = `/llm/${agentId}/conversation/${body.conversationId}/messages/${body.message.id}`;
  const call = body.message.parts.find(({ type }) => type === 'tool-weather_forecast') as { toolCallId?: string };
  expect((await post(`${at}/tools/${call.toolCallId}`, { approved: true })).status).toBe(202);
  const answer = async () => (await platform.call<ToolMessage>(`/api/v1/core${at}`)).body;
  await until(async () => (await answer()).status === 'complete', 'the answer');
  expect(api.asked).toHaveLength(1);
  expect((await answer()).parts.at(-1)).toMatchObject({
    type: 'source-document',
    title: 'ferries.md',
    quote: 'The ferry to Norderney leaves at nine.',
  });
});
