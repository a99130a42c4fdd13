import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from '../e2e/child';
import { KEY, PRODUCT, type Started, startProduct } from './product';
import { median, pinned, type Rate, rateOf } from './rate';

/**
 * Another checkout beside this one, both built (`npm run build`), in turn: one Agent, a list of 50, a new prompt, and JSON calls and
 * streams of the gateway, without a limit and under one. Prints the processor time of a request, the requests a second, and how often
 * this checkout needed more than the other. Each server has one processor, provider and load the other one.
 * `BESIDE=../before npm exec -- node --require ./test/register.cjs test/load/beside.ts`; `ONLY=JSON` measures what begins so.
 */

const BESIDE = process.env['BESIDE'] ?? '';
const ROUNDS = Number(process.env['ROUNDS'] ?? 20);
const SECONDS = Number(process.env['SECONDS'] ?? 1);
const ONLY = process.env['ONLY'] ?? '';
/** Rounds until the code that runs often is compiled. */
const WARMING = 6;
const [SERVING, ASKING] = [0, 1];
const AGENTS = 60;

interface Side {
  readonly product: Started;
  readonly spaceId: string;
  readonly agentId: string;
}

interface Measurement {
  readonly name: string;
  readonly path: (side: Side) => string;
  readonly body?: string;
}

const bearer = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` };
const byKey = { 'content-type': 'application/json', 'x-api-key': KEY };
const chat = (more: object): string =>
  JSON.stringify({ model: 'mock', messages: [{ role: 'user', content: 'word '.repeat(100) }], ...more });
const completions = (): string => '/api/compat/v1/chat/completions';

const CORE: readonly Measurement[] = [
  { name: 'one Agent', path: ({ agentId }) => `/api/v1/core/agents/${agentId}` },
  { name: 'list of 50 Agents', path: () => '/api/v1/core/agents?limit=50' },
  {
    name: 'a new prompt',
    path: ({ spaceId }) => `/api/v1/core/spaces/${spaceId}/prompts`,
    body: JSON.stringify({ title: 'A prompt', text: 'word '.repeat(100) }),
  },
];
const CALLS: readonly Measurement[] = [
  { name: 'JSON', path: completions, body: chat({}) },
  { name: 'stream of 50 chunks', path: completions, body: chat({ stream: true }) },
];

const main = async (): Promise<void> => {
  if (BESIDE === '') throw new Error('Set BESIDE to the folder of another checkout.');
  const folder = mkdtempSync(join(tmpdir(), 'load-beside-'));
  const isPinned = pinned(process.pid, ASKING);
  const provider = await startChild('test/load/gateway-upstream.ts', {});
  const sides: Side[] = [];
  try {
    for (const checkout of [BESIDE, PRODUCT])
      sides.push(await start(checkout, mkdtempSync(join(folder, 'data-')), provider.url));
    if (isPinned) for (const { product } of sides) pinned(product.pid, SERVING);
    for (const measurement of CORE) await compare(measurement.name, measurement, sides, byKey);
    for (const measurement of CALLS) await compare(`${measurement.name}, without a limit`, measurement, sides, bearer);
    for (const side of sides) await post(side.product, '/cost-control', LIMIT);
    for (const measurement of CALLS) await compare(`${measurement.name}, under a limit`, measurement, sides, bearer);
  } finally {
    for (const { product } of sides) await product.stop();
    await provider.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Every call is held and settled under it, and none reaches it. */
const LIMIT = { scope: { type: 'instance' }, amount: '1000000', window: 'month' };

const start = async (checkout: string, dataDir: string, provider: string): Promise<Side> => {
  const modelsFile = join(dataDir, 'models.json');
  const pricing = { currency: 'USD', input: '0.25', output: '2' };
  writeFileSync(
    modelsFile,
    JSON.stringify({
      providers: { mock: { kind: 'openai', baseUrl: `${provider}/v1` } },
      models: [{ key: 'mock', provider: 'mock', kind: 'chat', pricing }],
    }),
  );
  const product = await startProduct(dataDir, { MODELS_FILE: modelsFile }, checkout);
  const spaceId = await post(product, '/spaces', { name: 'Load', slug: 'load' });
  let agentId = '';
  for (let index = 0; index < AGENTS; index += 1) {
    const systemPrompt = 'You answer from the handbook. '.repeat(5);
    agentId = await post(product, '/agents', { spaceId, name: `Agent ${index}`, systemPrompt });
  }
  return { product, spaceId, agentId };
};

/** Posts to the core API; answers the id of what was made. */
const post = async ({ url }: Started, path: string, body: object): Promise<string> => {
  const response = await fetch(`${url}/api/v1/core${path}`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
};

const compare = async (
  title: string,
  { path, body }: Measurement,
  sides: readonly Side[],
  headers: Record<string, string>,
): Promise<void> => {
  if (!title.startsWith(ONLY)) return;
  const seen = sides.map((): Rate[] => []);
  for (let round = -WARMING; round < ROUNDS; round += 1) {
    for (const [index, side] of sides.entries()) {
      const { pid, url } = side.product;
      const asked = { ...(body === undefined ? {} : { body }), connections: 64 };
      const rate = await rateOf(pid, url + path(side), SECONDS, headers, asked);
      if (round >= 0) seen[index]?.push(rate);
    }
  }
  const [before, now] = seen.map((rates) => ({
    cpu: median(rates.map(({ cpuMicroseconds }) => cpuMicroseconds)),
    rate: median(rates.map(({ perSecond }) => perSecond)),
  })) as [{ cpu: number; rate: number }, { cpu: number; rate: number }];
  process.stdout.write(
    `${title}: ${now.cpu.toFixed(0)} µs of processor beside ${before.cpu.toFixed(0)}, ${(now.cpu / before.cpu).toFixed(2)} times; ` +
      `${now.rate.toFixed(0)}/s beside ${before.rate.toFixed(0)}\n`,
  );
};

void main();
