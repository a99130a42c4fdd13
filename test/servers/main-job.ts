import { until } from '../fixtures/until';
import type { Ask } from '../e2e/asking';

const CORE = '/api/v1/core';
const OPERATIONS = '/api/v1/operations/projections';
const SENTENCE = 'The ferry leaves at nine.';

const post = <T = { id: string }>(ask: Ask, path: string, body: object) => ask<T>({ path, method: 'POST', body });

/** A question about a document is answered with the sentence that it cites. An answer that says only where it stands, since views are late, is asked for again. */
export const expectAnswer = (ask: Ask, agentId: string): Promise<void> =>
  until(
    async () =>
      JSON.stringify(
        (await post(ask, `${CORE}/llm/${agentId}/conversation`, { message: 'When does the ferry leave?' })).body,
      ).includes(SENTENCE),
    'the answer',
  );

/** A Space with an Agent that knows a document, and answers from it before and after its search index was built anew. Resolves to the id of the Agent. */
export const mainJob = async (ask: Ask): Promise<string> => {
  const space = (await post(ask, `${CORE}/spaces`, { name: 'Harbour' })).body.id;
  const agentId = (
    await post(ask, `${CORE}/agents`, { spaceId: space, name: 'Guide', model: 'local-chat', knowledgeEnabled: true })
  ).body.id;
  const document = await post(ask, `${CORE}/knowledge/${agentId}/documents`, {
    name: 'ferries.md',
    content: `# Ferries\n\n${SENTENCE}`,
    mimeType: 'text/markdown',
  });
  await until(
    async () =>
      (
        await ask<{ status: string }>({
          path: `${CORE}/knowledge/${agentId}/documents/${document.body.id}`,
          method: 'GET',
        })
      ).body.status === 'Ready',
    'the document',
  );
  await expectAnswer(ask, agentId);
  expect((await post(ask, `${OPERATIONS}/passages/rebuild`, { swap: true })).status).toBe(202);
  await until(
    async () =>
      JSON.stringify((await ask({ path: `${OPERATIONS}/passages`, method: 'GET' })).body).includes('"swapped"'),
    'the rebuild',
  );
  await expectAnswer(ask, agentId);
  return agentId;
};
