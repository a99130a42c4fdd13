import { randomUUID } from 'node:crypto';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from '@app/kernel';
import { until } from '../fixtures/until';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

let platform: TestPlatform;
let agentId: string;
beforeAll(async () => {
  platform = await startTestPlatform({ listen: true });
  agentId = (
    await platform.call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      body: { name: 'Guide', knowledgeEnabled: true },
    })
  ).body.id;
});
afterAll(() => platform.stop());

const DAY_AND_MORE = 25 * 60 * 60_000;
/** The log is older than the bodies: its first event says that it was recorded two days ago. */
beforeAll(async () => {
  const { log } = platform.platform.host.stores;
  const readAll = log.readAll.bind(log);
  jest.spyOn(log, 'readAll').mockImplementation(async (options) => {
    const page = await readAll(options);
    if (options?.limit !== 1 || options.direction === 'backwards') return page;
    return {
      ...page,
      events: page.events.map((event) => ({
        ...event,
        metadata: JSON.stringify({ recordedAt: new Date(Date.now() - 2 * DAY_AND_MORE).toISOString() }),
      })),
    };
  });
});
afterAll(() => jest.restoreAllMocks());

const documents = async () =>
  (await platform.call<{ items: { id: string; status: string }[] }>(`/api/v1/core/knowledge/${agentId}/documents`)).body
    .items;
const blobs = () => platform.platform.host.stores.blobs.list(null, 100);

const upload = async (...names: readonly string[]) => {
  const form = new FormData();
  for (const name of names) form.append('file', new Blob([`This is ${name}.`], { type: 'text/plain' }), name);
  const response = await fetch(`${platform.url}/api/v1/core/knowledge/${agentId}/documents`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY },
    body: form,
  });
  return { status: response.status, body: (await response.json()) as { code: string; outcome: string } };
};

describe('an upload of several files that fails half way', () => {
  it.each([
    ['the log rejects the third', 'none', 3],
    ['the answer of the third is lost', 'unknown', 3],
  ] as const)('leaves no document and no body: %s', async (_, outcome, failing) => {
    const { log } = platform.platform.host.stores;
    const append = log.append.bind(log);
    let added = 0;
    const broken = jest.spyOn(log, 'append').mockImplementation(async (stream, events, expected) => {
      const fails = events[0]?.type === 'DocumentAdded' && (added += 1) === failing;
      const receipt = fails && outcome === 'none' ? undefined : await append(stream, events, expected);
      if (receipt === undefined || fails) throw new Unavailable('log', 'it was made to fail', outcome);
      return receipt;
    });
    const answer = await upload('a.txt', 'b.txt', 'c.txt', 'd.txt').finally(() => broken.mockRestore());
    // The first two were added: that they are withdrawn is not known yet.
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable', outcome: 'unknown' } });
    await until(async () => (await documents()).length === 0, 'the end of the documents');
    // Its name may not be known to have come, so the body of an unknown outcome stays for the sweep.
    await until(async () => (await blobs()).length === (outcome === 'none' ? 0 : 1), 'the end of the bodies');
  });
});

test('bodies that no event names are removed when they are older than a day, and no others', async () => {
  const { host } = platform.platform;
  const earlier = await blobs();
  await upload('kept.txt');
  await until(async () => (await documents())[0]?.status === 'Ready', 'the document');
  const named = async () => (await blobs()).filter((name) => !earlier.includes(name));
  await until(async () => (await named()).length === 3, 'the end of what only ingestion needed');
  const before = await named();
  const [old, young] = await Promise.all([
    host.stores.blobs.put('document-x', Buffer.from('left over'), {}),
    host.stores.blobs.put('document-x', Buffer.from('on its way'), {}),
  ]);
  const aged = new Date(Date.now() - DAY_AND_MORE);
  for (const file of readdirSync(join(platform.dataDir, 'blobs'), { recursive: true, withFileTypes: true })) {
    if (file.isFile() && file.name !== young.name) utimesSync(join(file.parentPath, file.name), aged, aged);
  }
  const swept = await platform.call('/api/v1/operations/blobs/sweep', { method: 'POST' });
  const left = await blobs();
  expect(left).toContain(young.name);
  expect(left).not.toContain(old.name);
  expect(swept.body['removed']).toBeGreaterThanOrEqual(1);
  const [document] = await documents();
  expect((await platform.call(`/api/v1/core/knowledge/${agentId}/documents/${document?.id}/file`)).status).toBe(200);
  expect((await platform.call(`/api/v1/core/knowledge/${agentId}/documents/${document?.id}/chunks`)).status).toBe(200);
  expect(left.filter((name) => before.includes(name)).length).toBe(3);
});

describe('bodies that events name in a way that this version does not read', () => {
  const files = () =>
    readdirSync(join(platform.dataDir, 'blobs'), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
  const stores = () => platform.platform.host.stores;
  const aged = (name: string, age: number): void => {
    const file = files().find((entry) => entry.name === name);
    const time = new Date(Date.now() - age);
    if (file !== undefined) utimesSync(join(file.parentPath, file.name), time, time);
  };
  /** Stores a body that is older than a day. */
  const storedBody = async (age = DAY_AND_MORE): Promise<string> => {
    const { name } = await stores().blobs.put('document-x', Buffer.from('from elsewhere'), {});
    aged(name, age);
    return name;
  };
  const appended = async (stream: string, type: string, data: object, schema = '1'): Promise<void> => {
    const { position } = await stores().log.append(
      stream,
      [
        {
          id: randomUUID(),
          type,
          data: JSON.stringify(data),
          metadata: JSON.stringify({
            $correlationId: 'c',
            $causationId: 'c',
            commandId: randomUUID(),
            actor: 'user:u1',
            schema,
            recordedAt: new Date().toISOString(),
          }),
        },
      ],
      'any',
    );
    await platform.platform.host.projecting.waitFor('named-blobs', position, 10_000);
  };
  const sweep = () => platform.call('/api/v1/operations/blobs/sweep', { method: 'POST' });
  const letters = async () =>
    (await platform.platform.host.projecting.deadLetters()).filter(({ name }) => name === 'named-blobs');

  it('are kept, and so are all others, while such an event waits as a dead letter', async () => {
    const [parked, leftover] = [await storedBody(), await storedBody()];
    await appended('document-parked', 'DocumentAdded', { body: parked }, '99');
    expect(await letters()).toHaveLength(1);
    expect(await sweep()).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(await blobs()).toEqual(expect.arrayContaining([parked, leftover]));

    const { projecting } = platform.platform.host;
    for (const { id } of await projecting.deadLetters()) await projecting.discardDeadLetter(id);
    expect(await sweep()).toMatchObject({ status: 200 });
    expect(await blobs()).toContain(parked);
    expect(await blobs()).not.toContain(leftover);
  });

  it('are kept where the event is of a kind that no view reads', async () => {
    const [named, givenUp, leftover] = [await storedBody(), await storedBody(), await storedBody()];
    await appended('document-of-later', 'DocumentPictured', { pictures: [{ file: named }, { file: givenUp }] });
    await appended('document-of-later', 'DocumentReady', { attempt: 1, superseded: [givenUp] });
    await until(async () => !(await blobs()).includes(givenUp), 'the end of what was given up');
    await stores().blobs.writeStored(givenUp, Buffer.from('whose removal failed'));
    aged(givenUp, DAY_AND_MORE);
    expect(await sweep()).toMatchObject({ status: 200, body: { removed: 2 } });
    expect(await blobs()).toContain(named);
    expect(await blobs()).not.toContain(givenUp);
    expect(await blobs()).not.toContain(leftover);
    expect(await sweep()).toMatchObject({ status: 200, body: { removed: 0 } });
  });

  it('are kept while the view is being built anew', async () => {
    const leftover = await storedBody();
    const rebuild = platform.platform.host.projecting.rebuild('named-blobs');
    await rebuild.start({ swap: false });
    await until(async () => (await rebuild.status())?.state === 'ready', 'the rebuild');
    const control = jest
      .spyOn(platform.platform.host.projecting, 'rebuild')
      .mockReturnValue({ ...rebuild, status: async () => ({ ...(await rebuild.status()), state: 'paused' }) as never });
    expect(await sweep()).toMatchObject({ status: 503 });
    control.mockRestore();
    await rebuild.cancel();
    expect(await sweep()).toMatchObject({ status: 200, body: { removed: 1 } });
    expect(await blobs()).not.toContain(leftover);
  });

  it('are kept that are older than the log: another one names them', async () => {
    const foreign = await storedBody(3 * DAY_AND_MORE);
    expect(await sweep()).toMatchObject({ status: 200, body: { removed: 0 } });
    expect(await blobs()).toContain(foreign);
  });
});

test('a deletion waits for the dead letters in the view of what it takes with it, and misses nothing then', async () => {
  const { projecting, policies, stores } = platform.platform.host;
  const core = (path: string): string => `/api/v1/core${path}`;
  const doomed = (await platform.call<{ id: string }>(core('/agents'), { method: 'POST', body: { name: 'Doomed' } }))
    .body.id;
  const turn = await platform.call<{ conversationId: string }>(core(`/llm/${doomed}/conversation`), {
    method: 'POST',
    body: { message: 'Hello' },
  });
  const { conversationId } = turn.body;
  // Of an instance that runs a later version beside this one.
  const { position } = await stores.log.append(
    'conversation-later',
    [
      {
        id: randomUUID(),
        type: 'ConversationStarted',
        data: '{}',
        metadata: JSON.stringify({
          $correlationId: 'c',
          $causationId: 'c',
          commandId: randomUUID(),
          actor: 'user:u1',
          schema: '99',
          recordedAt: new Date().toISOString(),
        }),
      },
    ],
    'any',
  );
  await projecting.waitFor('conversations', position, 10_000);
  const letters = async () =>
    (await policies.deadLetters()).filter(({ name }) => name === 'delete-conversations-of-the-deleted');
  const statusOf = async () =>
    (await stores.log.readStream(`conversation-${conversationId}`, { direction: 'backwards', limit: 1 }))[0]?.type;

  expect((await platform.call(core(`/agents/${doomed}`), { method: 'DELETE' })).status).toBe(204);
  await until(
    async () => (await letters()).some(({ stream }) => stream === `agent-${doomed}`),
    'the dead letter of the deletion',
  );
  expect(await statusOf()).not.toBe('ConversationDeleted');

  for (const { id } of await projecting.deadLetters()) await projecting.discardDeadLetter(id);
  for (const { id } of await letters()) await policies.retryDeadLetter(id);
  await until(async () => (await statusOf()) === 'ConversationDeleted', 'the end of the conversation');
});
