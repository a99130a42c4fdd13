import { completion, json } from '../fixtures/upstream-double';
import { pngOf } from '../fixtures/images';
import {
  CORE,
  generate,
  newAgent,
  owner,
  platform,
  sent,
  spaceId,
  stranger,
  upstream,
  withGenerating,
} from './generation-world';

/** Issue 20, number 1: files by their ids, and what a model thought, in `generateText`. */

withGenerating();

const UNKNOWN = '01990000-0000-7000-8000-000000000001';
const upload = async (agent: string, body: Buffer, filename: string): Promise<string> => {
  const head = `--b\r\ncontent-disposition: form-data; name="file"; filename="${filename}"\r\ncontent-type: application/octet-stream\r\n\r\n`;
  const { status, text, ...answer } = await platform.call<{ id: string }>(`${CORE}/llm/${agent}/files`, {
    method: 'POST',
    key: owner.key,
    payload: Buffer.concat([Buffer.from(head), body, Buffer.from('\r\n--b--\r\n')]),
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  });
  if (status !== 201) throw new Error(text);
  return answer.body.id;
};
const asking = (...files: readonly object[]) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, ...files] }],
});

it('shows uploaded files: images to models that see, of others what can be read in them', async () => {
  const agent = await newAgent();
  const image = pngOf(640, 480);
  const [picture, words] = [
    await upload(agent, image, 'dot.png'),
    await upload(agent, Buffer.from('The quarry of Umberholt.'), 'quarry.md'),
  ];
  const files = [
    { type: 'file', fileId: words },
    { type: 'file', fileId: picture },
  ];
  expect((await generate(agent, { model: 'sees', ...asking(...files) })).status).toBe(200);
  const content = sent()[0]?.messages.at(-1)?.content as readonly { readonly type: string; readonly text?: string }[];
  expect(content.map(({ type }) => type)).toEqual(['text', 'text', 'image_url']);
  expect(content[1]?.text).toContain('[Attached file: "quarry.md"]');
  expect(content[1]?.text).toContain('The quarry of Umberholt.');
  expect(JSON.stringify(content[2])).toContain(image.toString('base64'));
  const object = { schema: { type: 'object' }, ...asking(...files), model: 'sees' };
  upstream.behaviour = (response, { body }) => json(response, 200, completion({ content: '{}' }, body['model']));
  expect((await generate(agent, object, 'generateObject')).status).toBe(200);
  // Nothing keeps them: a file that no message names goes after a day.
  expect((await generate(agent, asking({ type: 'file', fileId: picture }))).body).toMatchObject({
    code: 'unsupported_parameter',
    errors: [{ path: 'messages[0].content[1]' }],
  });
});

it('knows no files of others, nor for another Agent, and takes ten', async () => {
  const [agent, other] = [await newAgent(), await newAgent()];
  const fileId = await upload(agent, Buffer.from('Mine.'), 'mine.txt');
  const told = async (id: string, at = agent, key = owner.key) => {
    const { status, body } = await generate(at, asking({ type: 'file', fileId: id }), 'generateText', key);
    return [status, body.code, body.errors?.map(({ path }) => path)];
  };
  expect(await told(fileId)).toEqual([200, undefined, undefined]);
  const unknown = await told(UNKNOWN);
  expect(unknown.slice(0, 2)).toEqual([404, 'not_found']);
  expect(await told(fileId, other)).toEqual(unknown);
  // Somebody who may use the Agent too.
  const member = `${CORE}/spaces/${spaceId}/members/${stranger.userId}`;
  await platform.call(member, { method: 'PUT', key: owner.key, body: { role: 'viewer' } });
  expect((await generate(agent, { prompt: 'Hello?' }, 'generateText', stranger.key)).status).toBe(200);
  expect(await told(fileId, agent, stranger.key)).toEqual(unknown);
  const before = upstream.calls.length;
  for (const file of [{ fileId, url: 'data:image/png;base64,AAAA' }, {}, { url: 'data:image/png;base64,AAAA' }])
    expect((await generate(agent, { model: 'sees', ...asking({ type: 'file', ...file }) })).status).toBe(400);
  const many = Array.from({ length: 11 }, () => ({ type: 'file', fileId }));
  expect((await generate(agent, asking(...many))).status).toBe(400);
  expect(upstream.calls.length).toBe(before);
});

it('tells what the model thought, where its provider does', async () => {
  const agent = await newAgent();
  upstream.behaviour = (response, { body }) =>
    json(response, 200, completion({ content: 'Nine.', reasoning_content: 'Eight and one.' }, body['model']));
  const { body } = await generate(agent, { prompt: 'How many?' });
  expect(body).toMatchObject({ text: 'Nine.', reasoningText: 'Eight and one.' });
  upstream.behaviour = (response, { body: asked }) =>
    json(response, 200, completion({ content: 'Nine.' }, asked['model']));
  expect((await generate(agent, { prompt: 'How many?' })).body).not.toHaveProperty('reasoningText');
});
