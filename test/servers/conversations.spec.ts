import { randomUUID } from 'node:crypto';
import type { Child } from '../e2e/child';
import { follow } from '../e2e/follow';
import { chunk, DONE, events, type UpstreamDouble, usageChunk } from '../fixtures/upstream-double';
import { type Cluster, CLUSTER_KEY, eventually, missingForCluster, untilServed } from './cluster';
import { startTalkingCluster } from './talking-cluster';
import { CORE, type List, watching } from './watching';

/** An answer belongs to a conversation, not to the process that makes it. */

const LONG = 300_000;
const WORDS = 30;
const PACE_MS = 100;
const ANSWER = Array.from({ length: WORDS }, (_, index) => `word${index}`).join(' ');

const specs = (): void => {
  let upstream: UpstreamDouble;
  let cluster: Cluster;
  let destroy: () => Promise<void>;
  let first: Child;
  let second: Child;
  let agentId: string;
  const { post, startPair } = watching(() => cluster);

  beforeAll(async () => {
    ({ cluster, upstream, destroy } = await startTalkingCluster());
    [first, second] = await startPair();
    agentId = (await post(first, `${CORE}/agents`, { name: 'Guide', model: 'm' })).body.id;
  }, LONG);
  afterAll(() => destroy(), LONG);

  /** What the next answer waits for in its middle. */
  let middle = Promise.resolve();
  /** Has the next answer wait in its middle until what is returned is called: however long steps beside it take, it is under way. */
  const holding = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    middle = promise;
    return resolve;
  };
  /** An answer word by word. */
  const slowly: UpstreamDouble['behaviour'] = (response) => {
    let said = 0;
    let isHeld = true;
    void middle.then(() => (isHeld = false));
    middle = Promise.resolve();
    events(response, chunk({ role: 'assistant', content: '' }));
    const timer = setInterval(() => {
      if (isHeld && said >= WORDS / 2) return;
      if (said < WORDS) return void events(response, chunk({ content: `${said === 0 ? '' : ' '}word${said++}` }));
      clearInterval(timer);
      events(response, chunk({}, 'stop'), usageChunk(), DONE).end();
    }, PACE_MS);
    response.once('close', () => clearInterval(timer));
  };

  /** Begins an answer at a process and reads it there. */
  const ask = async (child: Child, question: string) => {
    const headers = {
      'x-api-key': CLUSTER_KEY,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    const body = JSON.stringify({ message: question, stream: true });
    const asked = await untilServed(() =>
      fetch(`${child.url}${CORE}/llm/${agentId}/conversation`, { method: 'POST', headers, body }),
    );
    expect(asked.status).toBe(200);
    return asked;
  };
  const known = new Set<string>();
  /** The conversation that was begun last, as the other process knows it. */
  const conversation = async (): Promise<string> => {
    let id = '';
    await eventually(async () => {
      const { items } = (
        await cluster.call<List<{ id: string }>>(second, `${CORE}/llm/${agentId}/conversation?limit=10`)
      ).body;
      id = items.find((item) => !known.has(item.id))?.id ?? '';
      return id !== '';
    }, 'the conversation');
    known.add(id);
    return id;
  };
  const pathOf = (id: string): string => `${CORE}/llm/${agentId}/conversation/${id}`;
  const textOf = (heard: readonly string[]): string =>
    [...heard.join('').matchAll(/^data: (\{.*\})$/gm)]
      .map(([, data]) => JSON.parse(data as string) as { type: string; delta?: string })
      .filter(({ type }) => type === 'text-delta')
      .map(({ delta }) => delta)
      .join('');

  it(
    'an answer is followed through another process while it is made, word for word',
    async () => {
      upstream.behaviour = slowly;
      const goOn = holding();
      const asked = await ask(first, 'Slowly?');
      const id = await conversation();
      const through = await untilServed(() => follow(`${second.url}${pathOf(id)}/stream`, CLUSTER_KEY));
      expect(through.status).toBe(200);
      // While it is made: not what is recorded at its end.
      await eventually(async () => textOf(through.heard).includes('word'), 'the first words');
      expect(textOf(through.heard)).not.toBe(ANSWER);
      goOn();
      const here = await asked.text();
      await through.ended;
      expect(textOf([here])).toBe(ANSWER);
      expect(textOf(through.heard)).toBe(ANSWER);
      expect(through.heard.join('')).toContain('data: [DONE]');
    },
    LONG,
  );

  it(
    'a branch that is being answered takes no other question at another process, and another branch is answered there beside it',
    async () => {
      upstream.behaviour = slowly;
      const begun = await cluster.call<{ conversationId: string; message: { id: string } }>(
        first,
        `${CORE}/llm/${agentId}/conversation`,
        { method: 'POST', body: { message: 'To begin with?' } },
      );
      const { conversationId, message } = begun.body;
      known.add(conversationId);
      const asked = (parentId: string | null) =>
        cluster.call<{ code?: string; message?: { status: string } }>(second, `${CORE}/llm/${agentId}/conversation`, {
          method: 'POST',
          body: { conversationId, parentId, message: 'And?' },
        });
      const before = upstream.calls.length;
      const goOn = holding();
      const answered = cluster.call<{ message: { status: string } }>(first, `${CORE}/llm/${agentId}/conversation`, {
        method: 'POST',
        body: { conversationId, parentId: message.id, message: 'Slowly?' },
      });
      await eventually(async () => upstream.calls.length > before, 'the call');
      const path = `${pathOf(conversationId)}/messages`;
      let question: string | undefined;
      await eventually(async () => {
        const { items } = (await cluster.call<List<{ id: string; role: string; status: string }>>(second, path)).body;
        question = items.find(({ status }) => status === 'streaming')?.id;
        return question !== undefined;
      }, 'the answer under way');
      expect(await asked(question as string)).toMatchObject({ status: 409, body: { code: 'turn_in_progress' } });
      const beside = await asked(null);
      expect([beside.status, beside.body.message?.status]).toEqual([200, 'complete']);
      goOn();
      expect((await answered).body.message.status).toBe('complete');
    },
    LONG,
  );

  it(
    'an answer is stopped through another process',
    async () => {
      upstream.behaviour = slowly;
      holding();
      const asked = await ask(first, 'And now stop?');
      const here = asked.text();
      await eventually(async () => upstream.open > 0, 'the call');
      const id = await conversation();
      expect((await cluster.call<{ stopped: boolean }>(second, `${pathOf(id)}/stop`, { method: 'POST' })).body).toEqual(
        { stopped: true },
      );
      await eventually(async () => upstream.open === 0, 'the end of the call');
      expect(textOf([await here])).not.toContain(`word${WORDS - 1}`);
    },
    LONG,
  );

  it(
    'an answer whose process dies ends for whoever follows it through another one',
    async () => {
      upstream.behaviour = slowly;
      holding();
      const third = await cluster.start('api');
      const asked = await ask(third, 'Will you last?');
      const broken = asked.text().catch(() => 'broken off');
      const id = await conversation();
      const through = await untilServed(() => follow(`${second.url}${pathOf(id)}/stream`, CLUSTER_KEY));
      await eventually(async () => textOf(through.heard).includes('word'), 'the first words');
      await cluster.kill(third);
      await through.ended;
      await broken;
      expect(ANSWER.startsWith(textOf(through.heard))).toBe(true);
      expect(through.heard.join('')).toContain('"type":"error"');
    },
    LONG,
  );
};

const missing = missingForCluster();
describe('conversations over several processes', () => {
  if (missing === undefined) specs();
  else it.todo(`skipped: ${missing}`);
});
