import { readFileSync, writeFileSync } from 'node:fs';
import { ADMIN_KEY } from './harness';
import { BASE, client, file, platform, post, withGateway } from './compat-gateway';

withGateway();

describe('rerank', () => {
  const documents = ['aa', 'aaaa', 'a'];

  it.each([
    ['input', 'top_k'],
    ['documents', 'top_n'],
  ])('takes %s and %s, and answers in `data` and `results`', async (list, top) => {
    const { body } = await platform.call(`${BASE}/rerank`, {
      method: 'POST',
      body: { model: 'ranks', query: 'q', [list]: documents, [top]: 2 },
    });
    const best = [
      { index: 1, relevance_score: 4 },
      { index: 0, relevance_score: 2 },
    ];
    expect(body).toEqual({
      object: 'list',
      data: best,
      results: best,
      model: 'ranks',
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
  });

  it('serves Continue, which sends its key twice, and Open WebUI, which wants every score', async () => {
    const asContinue = await post<{ data: unknown }>(
      '/rerank',
      { model: 'ranks', query: 'q', documents },
      { authorization: `Bearer ${ADMIN_KEY}` },
    );
    expect(asContinue.body.data).toEqual([
      { index: 1, relevance_score: 4 },
      { index: 0, relevance_score: 2 },
      { index: 2, relevance_score: 1 },
    ]);
    const asOpenWebUi = await post<{ results: { index: number; relevance_score: number }[] }>('/rerank', {
      model: 'ranks',
      query: 'q',
      documents,
      top_n: documents.length,
    });
    expect(asOpenWebUi.body.results.toSorted((a, b) => a.index - b.index).map((one) => one.relevance_score)).toEqual([
      2, 4, 1,
    ]);
  });

  it.each([
    [{ query: 'q', input: ['a'] }, 400, 'invalid_body'],
    [{ model: 'ranks', input: ['a'] }, 400, 'invalid_body'],
    [{ model: 'ranks', query: 'q' }, 400, 'invalid_body'],
    [{ model: 'ranks', query: 'q', input: [] }, 400, 'invalid_input'],
    [{ model: 'ranks', query: 'q', input: ['a'], top_k: 0 }, 400, 'invalid_body'],
    [{ model: 'big', query: 'q', input: ['a'] }, 404, 'model_not_found'],
  ])('rejects %j', async (body, status, code) =>
    expect(await post('/rerank', body)).toMatchObject({ status, body: { error: { code } } }),
  );
});

describe('the catalogue', () => {
  it('shows an Agent its models', async () => {
    const { call } = platform;
    const agent = await call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      body: { name: 'Narrow', model: 'big', allowedModels: ['big', 'local-chat'] },
    });
    const { body } = await call(`/api/v1/core/llm/${agent.body.id}/models`);
    expect(body).toEqual({
      defaultModel: 'big',
      availableModels: ['local-chat', 'big'],
      models: [
        expect.objectContaining({ key: 'local-chat', securityTier: 'secure', pricing: 'free' }),
        {
          key: 'big',
          modelId: 'acme-big',
          displayName: 'big',
          provider: 'acme',
          region: null,
          securityTier: 'us-cloud',
          locationLabel: null,
          tags: [],
          pricing: expect.objectContaining({ currency: 'USD', input: '1', output: '2' }),
        },
      ],
    });
  });

  it('has a history of its models and prices; a wrong file changes nothing', async () => {
    const { call } = platform;
    const before = readFileSync(file, 'utf8');
    const reload = async (text: string) => {
      writeFileSync(file, text);
      return call('/api/v1/operations/models/reload', { method: 'POST' });
    };
    expect((await reload(before)).status).toBe(200);
    expect((await reload(before.replace('"org/same"', '"big"'))).body).toMatchObject({
      status: 400,
      errors: [{ message: 'MODELS_FILE is invalid: the model big is listed twice.' }],
    });
    expect((await client.models.retrieve('org/same')).id).toBe('org/same');
    expect((await reload(before.replaceAll('"input":"1"', '"input":"3"'))).status).toBe(200);
    const { body } = await call<{
      items: { actor: string; type: string; changes: { path: string; before: unknown; after: unknown }[] }[];
    }>('/api/v1/audit/objects/model/org%2Fsame/history');
    expect(body.items.map(({ type, actor }) => [type, actor.split(':')[0]])).toEqual([
      ['ModelOffered', 'key'],
      ['ModelOffered', 'system'],
    ]);
    expect(body.items[0]?.changes).toContainEqual({ path: 'pricing.input', before: '1', after: '3' });
    expect((await reload(before)).status).toBe(200);
  });
});
