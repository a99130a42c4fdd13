import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeModelsFile } from '../fixtures/models-file';
import { until } from '../fixtures/until';
import { startUpstreamDouble } from '../fixtures/upstream-double';
import { startTestPlatform } from './harness';
import { callsTool, startToolServer } from './tools-world';

interface Message {
  readonly id: string;
  readonly status: string;
  readonly usage: { readonly totalTokens: number } | null;
  readonly parts: readonly object[];
}

it('a call that must be approved waits through a restart, for its user alone, and is made once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tools-restart-'));
  const dataDir = join(folder, 'data');
  const [tools, upstream] = [await startToolServer(), await startUpstreamDouble()];
  const MODELS_FILE = writeModelsFile(
    folder,
    upstream,
    [{ key: 'm', kind: 'chat', tags: ['tools'], pricing: 'free' }],
    { titleModel: null },
  );
  const start = () => startTestPlatform({ dataDir, environment: { MODELS_FILE, TOOL_PRIVATE_HOSTS: tools.host } });
  upstream.behaviour = callsTool('Bonn');
  try {
    const first = await start();
    const agent = await first.call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      body: { name: 'Guide', model: 'm', knowledgeEnabled: false, tools: [tools.tool('always')] },
    });
    const path = `/api/v1/core/llm/${agent.body.id}/conversation`;
    const asked = await first.call<{ conversationId: string; message: Message }>(path, {
      method: 'POST',
      body: { message: 'Will it rain?' },
    });
    const { conversationId, message } = asked.body;
    expect([asked.status, message.status]).toEqual([200, 'waiting']);
    await first.stop({ keep: true });
    const second = await start();
    const at = `${path}/${conversationId}/messages/${message.id}`;
    expect((await second.call(at)).body).toEqual(message);
    const respond = (key?: string) =>
      second.call(`${at}/tools/call_Bonn`, { method: 'POST', body: { approved: true }, ...(key && { key }) });
    expect((await respond((await second.newCaller({ role: 'admin' })).key)).status).toBe(404);
    expect(tools.calls).toEqual([]);
    expect(await respond()).toMatchObject({ status: 202, body: { messageId: message.id, status: 'streaming' } });
    const answer = async () => (await second.call<Message>(at)).body;
    await until(async () => (await answer()).status === 'complete', 'the answer');
    expect(await answer()).toMatchObject({
      parts: [...message.parts.slice(0, -1), { state: 'output-available' }, { type: 'step-start' }, { type: 'text' }],
      usage: { totalTokens: 58 },
    });
    expect((await respond()).body).toMatchObject({ code: 'conflict' });
    expect(tools.calls).toEqual(['/v1/forecast/Bonn']);
    await second.stop();
  } finally {
    await Promise.all([tools.stop(), upstream.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
});

it('an answer that was asked of another model goes on with that once its call is approved', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tools-model-'));
  const [tools, upstream] = [await startToolServer(), await startUpstreamDouble()];
  const models = ['m', 'n'].map((key) => ({ key, kind: 'chat', tags: ['tools'], pricing: 'free' }));
  const MODELS_FILE = writeModelsFile(folder, upstream, models, { defaultModel: 'm', titleModel: null });
  upstream.behaviour = callsTool('Bonn');
  const platform = await startTestPlatform({ environment: { MODELS_FILE, TOOL_PRIVATE_HOSTS: tools.host } });
  const post = (path: string, body: object = {}) =>
    platform.call<{ conversationId: string; message: Message & { model: string } }>(path, { method: 'POST', body });
  try {
    const agent = await platform.call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      body: { name: 'Guide', model: 'm', knowledgeEnabled: false, tools: [tools.tool('always')] },
    });
    const path = `/api/v1/core/llm/${agent.body.id}/conversation`;
    const { conversationId, message: first } = (await post(path, { message: 'Will it rain?' })).body;
    await platform.call(`${path}/${conversationId}/stop`, { method: 'POST' });
    const messages = `${path}/${conversationId}/messages`;
    const { message } = (await post(`${messages}/${first.id}/regenerate`, { model: 'n' })).body;
    expect(message).toMatchObject({ status: 'waiting', model: 'n' });
    expect((await post(`${messages}/${message.id}/tools/call_Bonn`, { approved: true })).status).toBe(202);
    const answer = async () => (await platform.call<Message>(`${messages}/${message.id}`)).body;
    await until(async () => (await answer()).status === 'complete', 'the answer');
    expect(await answer()).toMatchObject({ model: 'n' });
    expect(upstream.calls.map(({ body }) => body['model'])).toEqual(['m', 'n', 'n']);
  } finally {
    await platform.stop();
    await Promise.all([tools.stop(), upstream.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
});
