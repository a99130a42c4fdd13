import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../fixtures/until';
import { startTestPlatform } from './harness';

/** What answers say of what they were made from that no provider was asked for: those of a release that recorded none of it, and those of local models. */

const RELEASE = join(__dirname, '..', 'fixtures', 'releases', '1.5.0');

interface Provenance {
  readonly request?: string;
  readonly missing: readonly string[];
}
interface Turn {
  readonly conversationId: string;
  readonly message: { readonly id: string };
}

it('an answer of an earlier release says that nothing of it is known, and nothing is made up', async () => {
  const work = mkdtempSync(join(tmpdir(), 'earlier-'));
  execFileSync('tar', ['-C', work, '-xzf', join(RELEASE, 'data.tar.gz')]);
  const { key, answers } = JSON.parse(readFileSync(join(RELEASE, 'answers.json'), 'utf8')) as {
    readonly key: string;
    readonly answers: Readonly<Record<string, { readonly items: readonly { id: string; role: string }[] }>>;
  };
  const platform = await startTestPlatform({
    dataDir: join(work, 'data'),
    environment: { MODELS_FILE: join(work, 'models.json'), BOOTSTRAP_API_KEY: key },
  });
  try {
    const [path, messages] = Object.entries(answers).find(([each]) => each.endsWith('/messages')) ?? [];
    const answer = messages?.items.find(({ role }) => role === 'assistant');
    const read = () => platform.call<Provenance>(`${path}/${answer?.id}/provenance`, { key });
    await until(async () => (await read()).status === 200, 'the views');
    expect((await read()).body).toMatchObject({
      messageId: answer?.id,
      agentRevision: null,
      prompt: null,
      model: expect.any(String) as string,
      priceVersion: null,
      sampling: null,
      chunks: [],
      toolCalls: [],
      checkpointId: null,
      invocations: [],
      missing: expect.arrayContaining([
        'agentRevision',
        'prompt',
        'priceVersion',
        'sampling',
        'chunks',
        'checkpointId',
        'invocations',
        'request',
      ]) as string[],
    });
    const question = messages?.items.find(({ role }) => role === 'user');
    expect((await platform.call(`${path}/${question?.id}/provenance`, { key })).status).toBe(404);
  } finally {
    await platform.stop({ keep: true });
    rmSync(work, { recursive: true, force: true });
  }
});

it('an answer of a local model opens what that was given, until something of it is deleted', async () => {
  const platform = await startTestPlatform();
  try {
    const core = '/api/v1/core';
    const post = async <T>(path: string, body: object): Promise<T> => {
      const answer = await platform.call<T>(core + path, { method: 'POST', body });
      if (answer.status >= 300) throw new Error(answer.text);
      return answer.body;
    };
    const { id } = await post<{ id: string }>('/agents', {
      name: 'Guide',
      model: 'local-chat',
      knowledgeEnabled: true,
    });
    const content = 'Zebras sleep standing up. They wake at every sound.';
    const document = await post<{ id: string }>(`/knowledge/${id}/documents`, {
      name: 'zebras.md',
      content,
      mimeType: 'text/markdown',
    });
    const documentPath = `${core}/knowledge/${id}/documents/${document.id}`;
    await until(async () => (await platform.call(documentPath)).body['status'] === 'Ready', 'the document');
    const { conversationId } = await post<Turn>(`/llm/${id}/conversation`, { message: 'Do zebras "sleep"?' });
    const { message } = await post<Turn>(`/llm/${id}/conversation`, {
      conversationId,
      message: 'How do zebras sleep?',
    });
    const path = `${core}/llm/${id}/conversation/${conversationId}/messages/${message.id}/provenance`;
    const found = (await platform.call<Provenance>(path)).body;
    expect(found.missing).toEqual([]);
    const given = JSON.parse(Buffer.from(found.request ?? '', 'base64').toString()) as {
      messages: { role: string; content: { text: string }[] }[];
      sources: string[];
    };
    expect(given.messages.map(({ role, content: [said] }) => [role, said?.text])).toEqual([
      ['user', 'Do zebras "sleep"?'],
      ['assistant', expect.any(String)],
      ['user', 'How do zebras sleep?'],
    ]);
    expect(given.sources.join()).toContain('standing up');
    await platform.call(documentPath, { method: 'DELETE' });
    const after = (await platform.call<Provenance>(path)).body;
    expect([after.request, after.missing]).toEqual([undefined, ['request', `document:${document.id}`]]);
  } finally {
    await platform.stop();
  }
});
