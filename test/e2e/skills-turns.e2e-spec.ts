import {
  api,
  ask,
  newAgent,
  offered,
  platform,
  post,
  prompts,
  script,
  toolResults,
  type ToolTurn,
  upstream,
  weather,
  withTools,
} from './http-tools-world';

withTools();

interface Skill {
  readonly id: string;
  readonly slug: string;
  readonly activeVersionId: string;
}

interface Provenance {
  readonly request?: string;
  readonly skills: readonly object[];
  readonly missing: readonly string[];
}

const published = async (agentId: string, name: string, instructions: string): Promise<Skill> => {
  const content = { description: `Use it for ${name}.`, instructions, publish: true };
  const { status, body, text } = await post<Skill>('/skills', { scope: 'agent', agentId, name, ...content });
  expect([status, text]).toEqual([201, expect.any(String)]);
  return body;
};
const load = (slug: string) => [{ name: 'load_skill', input: { slug } }];
const goOn = (agentId: string, conversationId: string, message: string) =>
  post<ToolTurn>(`/llm/${agentId}/conversation`, { conversationId, message });

/** Of Skills that `load_skill` takes. */
const slugsOffered = (): unknown => {
  const tools = upstream.calls.at(-1)?.body['tools'] as { function: { name: string; parameters: unknown } }[];
  const { parameters } = tools.find((tool) => tool.function.name === 'load_skill')?.function ?? {};
  return (parameters as { properties: { slug: { enum: unknown } } }).properties.slug.enum;
};

const lastBody = (): string =>
  JSON.stringify(upstream.calls.findLast(({ path }) => path.endsWith('completions'))?.body);

describe('an answer of an Agent with Skills', () => {
  it('is told of them by name and description, and of the rest when it loads one', async () => {
    const agentId = await newAgent({ memoryEnabled: false });
    const {
      id: skillId,
      slug,
      activeVersionId: versionId,
    } = await published(agentId, 'Check bills', 'Add up canary 7.');
    script.push('Hello.');
    await ask(agentId, 'Hello.');
    expect(prompts()).toContain(`- ${slug}: Use it for Check bills.`);
    expect(prompts()).not.toContain('canary 7');
    expect(offered()).toEqual(['load_skill', 'search_skill', 'read_skill_file']);
    expect(slugsOffered()).toEqual([slug]);
    script.push(load(slug), 'Done.');
    const { body } = await ask(agentId, 'Check this bill.');
    expect(toolResults()[0]).toContain('Add up canary 7.');
    expect(JSON.stringify(body)).not.toContain('canary 7');
    const provenance = await platform.call(
      `/api/v1/core/llm/${agentId}/conversation/${body.conversationId}/messages/${body.message.id}/provenance`,
    );
    expect(provenance.body).toMatchObject({ skills: [{ skillId, versionId, files: [] }], memoryState: 'off' });
    script.push(load(slug), 'Done.');
    await goOn(agentId, body.conversationId, 'And this one.');
    expect(toolResults().at(-1)).toContain('already loaded');
  });

  it('loads what is installed, with its version in the provenance after its origin is deleted', async () => {
    const [agentId, elsewhere] = [await newAgent({ memoryEnabled: false }), await newAgent()];
    const { id: origin, slug } = await published(elsewhere, 'Listed', 'Sing canary 9.');
    const entry = (await post<Skill>('/marketplace/skills', { skillId: origin })).body;
    const place = { scope: 'agent', agentId };
    expect((await post(`/marketplace/skills/${entry.id}/installations`, place)).status).toBe(201);
    await platform.call(`/api/v1/core/skills/${origin}`, { method: 'DELETE' });
    script.push(load(slug), 'Done.');
    const { body } = await ask(agentId, 'Sing.');
    expect(toolResults().at(-1)).toContain('Sing canary 9.');
    const provenance = await platform.call<Provenance>(
      `/api/v1/core/llm/${agentId}/conversation/${body.conversationId}/messages/${body.message.id}/provenance`,
    );
    expect(provenance.body.skills).toMatchObject([{ skillId: entry.id, versionId: entry.activeVersionId }]);
  });

  it('has from the next turn on what is live then, and nothing of what is deleted', async () => {
    const agentId = await newAgent({ memoryEnabled: false });
    const { id, slug } = await published(agentId, 'Travel', 'Take the canary train.');
    script.push(load(slug), 'Done.');
    const { conversationId } = (await ask(agentId, 'Book it.')).body;
    const path = `/api/v1/core/skills/${id}`;
    await platform.call(path, { method: 'PUT', body: { instructions: 'Take the canary plane.' } });
    upstream.calls.length = 0;
    await goOn(agentId, conversationId, 'And back.');
    expect(prompts()).toContain('canary train');
    await platform.call(`${path}/publish`, { method: 'POST' });
    upstream.calls.length = 0;
    await goOn(agentId, conversationId, 'And on.');
    expect(prompts()).toContain('canary plane');
    expect(prompts()).not.toContain('canary train');
    const { message } = (await goOn(agentId, conversationId, 'Is it booked?')).body;
    const made = `/api/v1/core/llm/${agentId}/conversation/${conversationId}/messages/${message.id}/provenance`;
    const before = (await platform.call<Provenance>(made)).body;
    expect(before.skills).toMatchObject([{ skillId: id }]);
    expect(before.skills[0]).not.toHaveProperty('deleted');
    expect((await platform.call(path, { method: 'DELETE' })).status).toBe(204);
    const after = (await platform.call<Provenance>(made)).body;
    expect(after.skills).toEqual([{ ...before.skills[0], deleted: true }]);
    expect(after.missing).toEqual(['request', `skill:${id}`]);
    upstream.calls.length = 0;
    await goOn(agentId, conversationId, 'And home.');
    expect(prompts()).not.toContain('canary plane');
    expect(offered()).toEqual([]);
  });

  it('keeps its request by the versions of Skills in it, and no word of them outlives them', async () => {
    const agentId = await newAgent({ memoryEnabled: false });
    const { id, slug } = await published(agentId, 'Fly', 'Take the brimble plane.');
    const other = await published(agentId, 'Unused', 'Take the bus.');
    const path = `/api/v1/core/skills/${id}`;
    const form = new FormData();
    form.append('file', new Blob(['The quorn gate opens at nine.']), 'gates.md');
    const encoded = new Response(form);
    const put = await platform.call(`${path}/draft/files/gates.md`, {
      method: 'PUT',
      payload: Buffer.from(await encoded.arrayBuffer()),
      headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
    });
    expect(put.status).toBe(200);
    expect((await platform.call(`${path}/publish`, { method: 'POST' })).status).toBe(200);
    script.push(
      load(slug),
      [
        { name: 'read_skill_file', input: { slug, path: 'gates.md' } },
        { name: 'search_skill', input: { slug, query: 'gate' } },
      ],
      'Done.',
    );
    const { conversationId, message: first } = (await ask(agentId, 'Book it.')).body;
    expect(toolResults().filter((text) => text.includes('quorn'))).toHaveLength(2);
    const { message } = (await goOn(agentId, conversationId, 'And back?')).body;
    const body = lastBody();
    expect(body).toContain('brimble');
    const messages = `/api/v1/core/llm/${agentId}/conversation/${conversationId}/messages`;
    const made = async (messageId: string) =>
      (await platform.call<Provenance>(`${messages}/${messageId}/provenance`)).body;
    const opened = async (messageId: string) => Buffer.from((await made(messageId)).request ?? '', 'base64').toString();
    expect(await opened(message.id)).toBe(body);
    expect(await opened(first.id)).toContain('The quorn gate opens at nine.');
    // A later version changes nothing of what was sent.
    await platform.call(path, { method: 'PUT', body: { instructions: 'Walk.', description: 'On foot.' } });
    await platform.call(`${path}/publish`, { method: 'POST' });
    expect(await opened(message.id)).toBe(body);
    // Named alone, and missing all the same.
    expect((await platform.call(`/api/v1/core/skills/${other.id}`, { method: 'DELETE' })).status).toBe(204);
    expect(await made(message.id)).toMatchObject({ missing: ['request', `skill:${other.id}`] });
    expect((await platform.call(path, { method: 'DELETE' })).status).toBe(204);
    expect((await made(message.id)).missing.toSorted()).toEqual(
      ['request', `skill:${id}`, `skill:${other.id}`].toSorted(),
    );
    const left = await platform.call(`/api/v1/audit/events?stream=conversation-${conversationId}&content=true`);
    expect(left.status).toBe(200);
    for (const text of [left.text, (await platform.call(messages)).text]) {
      expect(text).toContain('read_skill_file');
      expect(text).not.toMatch(/quorn|brimble/u);
    }
  });

  it('may do no more for the `allowed-tools` of a Skill that it loaded', async () => {
    const agentId = await newAgent({ memoryEnabled: false, tools: [weather({ enabled: false })] });
    const file =
      '---\nname: forecast\ndescription: For the weather.\nallowed-tools: weather_forecast Bash\n---\nCall it.';
    const part = (name: string, value: string) =>
      `--a-skill\r\ncontent-disposition: form-data; name=${name}\r\n\r\n${value}\r\n`;
    const fields = [part('"scope"', 'agent'), part('"agentId"', agentId), part('"publish"', 'true')];
    const { status, body } = await platform.call('/api/v1/core/skills', {
      method: 'POST',
      payload: Buffer.from(`${fields.join('')}${part('"file"; filename="SKILL.md"', file)}--a-skill--\r\n`),
      headers: { 'content-type': 'multipart/form-data; boundary=a-skill' },
    });
    expect([status, body]).toMatchObject([201, { slug: 'forecast', status: 'published', warnings: [] }]);
    script.push(load('forecast'), [{ name: 'weather_forecast', input: { city: 'Bonn' } }], 'Done.');
    await ask(agentId, 'How is the weather?');
    expect(toolResults()[0]).toContain('Call it.');
    expect(offered()).toEqual(['load_skill', 'search_skill', 'read_skill_file']);
    expect(api.asked).toEqual([]);
  });

  it('has none where its model calls no tools, nor in generation', async () => {
    const agentId = await newAgent({ model: 'plain', memoryEnabled: false });
    await published(agentId, 'Travel', 'Take the train.');
    await ask(agentId, 'Hello.');
    await post(`/llm/${agentId}/generateText`, { prompt: 'Hello?' });
    expect(prompts()).not.toContain('travel');
    expect(offered()).toEqual([]);
  });
});
