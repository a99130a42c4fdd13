import type { Child } from '../e2e/child';
import { EVER } from '../fixtures/ever';
import { until } from '../fixtures/until';
import { behaves, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { lasting } from './mongo/mongo-counters';
import { rounds, seed, seededNumbers } from './log/rounds';
import { writeModelsFile } from '../fixtures/models-file';
import { ask, call, KEY, killedProduct } from './killed-product';

const number = seededNumbers();
const product = killedProduct('spending');
/** Nano-units: (15 x 1 + 4 x 0.1 + 10 x 2) / 1,000,000 of a unit. */
const COST = 35_400;

interface LimitState {
  readonly spent: string;
  readonly held: string;
}

interface Invocation {
  readonly id: string;
  readonly usage: { readonly cost: string };
}

let modelsFile: string;
let upstream: UpstreamDouble;
beforeEach(async () => {
  upstream = await startUpstreamDouble();
  modelsFile = writeModelsFile(product.folder(), upstream, [
    { key: 'm', kind: 'chat', pricing: { currency: 'USD', input: '1', output: '2' } },
  ]);
});
afterEach(() => upstream.stop());

const start = () => product.start({ MODELS_FILE: modelsFile });
/** 200 when it was answered; undefined when the process died before. */
const chat = async ({ url }: Child): Promise<number | undefined> => {
  const body = JSON.stringify({
    model: 'm',
    messages: [{ role: 'user', content: 'Hello?' }],
    max_completion_tokens: 10,
  });
  const response = await fetch(`${url}/api/compat/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body,
  }).catch(() => undefined /* it was killed */);
  return response?.status;
};
const allInvocations = async (child: Child): Promise<readonly Invocation[]> => {
  const found: Invocation[] = [];
  for (let cursor = ''; ;) {
    const { items, nextCursor } = await call<{ items: Invocation[]; nextCursor: string | null }>(
      child,
      `core/usage/invocations?${EVER}&limit=100${cursor}`,
    );
    found.push(...items);
    if (nextCursor === null) return found;
    cursor = `&cursor=${nextCursor}`;
  }
};
/** Waits until every view shows all of the log: one goes on from where it stood, and says nothing of that with a start. */
const viewsShowAll = (child: Child): Promise<void> =>
  until(
    async () =>
      (await ask<{ projections: { lagEvents: number | null }[] }>(child, '../../health')).body.projections.every(
        ({ lagEvents }) => lagEvents === 0,
      ),
    'the views',
  );
const nano = (amount: string): number => Math.round(Number(amount) * 1e9);

test(`kill -9 at any moment: what was held comes free, and the account equals the records, each call once (SEED=${seed})`, async () => {
  let child = await start();
  const limit = { scope: { type: 'instance' }, amount: '1000', window: 'total' };
  const { id } = await call<{ id: string }>(child, 'core/cost-control', 'POST', limit);
  upstream.behaviour = (response, call) => void setTimeout(() => void behaves(response, call), number(40));
  let answered = 0;
  for (let round = 0; round < rounds(4); round += 1) {
    const running = child;
    let isAlive = true;
    const clients = Array.from({ length: 8 }, async () => {
      while (isAlive) if ((await chat(running)) === 200) answered += 1;
    });
    // So many that there is something to kill; then at any moment.
    const before = answered;
    await until(() => answered > before + 8, 'answers');
    await lasting(number(500));
    isAlive = false;
    child.kill('SIGKILL');
    await Promise.all([child.exited, ...clients]);

    child = await start();
    // By the records: it stays held until the view is known to have them all.
    const state = async () => (await ask<LimitState>(child, `core/cost-control/${id}`)).body;
    await until(async () => nano((await state()).held) === 0, 'what was held to come free');
    const { spent } = await state();
    await viewsShowAll(child);
    const invocations = await allInvocations(child);
    expect(nano(spent)).toBe(invocations.reduce((sum, { usage }) => sum + nano(usage.cost), 0));
    expect(new Set(invocations.map((each) => each.id)).size).toBe(invocations.length);
    // Every call that reached the provider has a record; one of each client may have been let through that had not.
    expect(upstream.calls.length).toBeGreaterThanOrEqual(answered);
    expect(invocations.length).toBeGreaterThanOrEqual(upstream.calls.length);
    expect(invocations.length).toBeLessThanOrEqual(upstream.calls.length + 8 * (round + 1));
  }
  await child.stop();
});

test('a stop asks for no more than is over: what ended is settled before the process goes', async () => {
  let child = await start();
  await Promise.all(Array.from({ length: 20 }, () => chat(child)));
  await child.stop();
  child = await start();
  await viewsShowAll(child);
  const invocations = await allInvocations(child);
  expect(invocations.map(({ usage }) => nano(usage.cost))).toEqual(Array.from({ length: 20 }, () => COST));
  await child.stop();
});
