import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from '../e2e/child';
import { median, type Rate, rateOf } from './rate';
import { KEY } from './product';

/**
 * Reads over HTTP: one Agent, and a list of 50, through the whole product, against Nest + Fastify routes that return a
 * constant of the same size, as text and as an object. The product and the baseline run each in a process of its own, one
 * after the other in rounds. Prints requests a second and the ratio of the medians; one Agent must come to 0.55 of the text.
 */

const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const SECONDS = Number(process.env['SECONDS'] ?? 3);
/** Rounds before the measured ones: the compiler needs some 100,000 requests to know what is hot. */
const WARMING = 3;

const main = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'load-http-'));
  const product = await startChild('apps/api/src/main.ts', {
    DATA_DIR: dataDir,
    PORT: '0',
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'info',
  });
  try {
    const headers = { 'x-api-key': KEY };
    const agentId = await fill(product.url, headers);
    const targets = {
      one: `${product.url}/api/v1/core/agents/${agentId}`,
      list: `${product.url}/api/v1/core/agents?limit=50`,
    };
    const texts = { one: await text(targets.one, headers), list: await text(targets.list, headers) };
    const baseline = await startChild('test/load/http-baseline.ts', { CONSTANTS: JSON.stringify(texts) });
    try {
      for (const name of ['one', 'list'] as const) {
        const rates = await interleaved({
          product: () => rateOf(product.pid, targets[name], SECONDS, headers),
          text: () => rateOf(baseline.pid, `${baseline.url}/text/${name}`, SECONDS),
          object: () => rateOf(baseline.pid, `${baseline.url}/object/${name}`, SECONDS),
        });
        process.stdout.write(
          `${name === 'one' ? 'GET one Agent' : 'GET a list of 50'} (${texts[name].length} bytes)\n`,
        );
        for (const [who, rate] of Object.entries(rates)) {
          const ratio = (rates.product.perSecond / rate.perSecond).toFixed(2);
          const cpuRatio = (rate.cpuMicroseconds / rates.product.cpuMicroseconds).toFixed(2);
          process.stdout.write(
            `  ${who.padEnd(8)} ${Math.round(rate.perSecond)} requests/s, ${rate.cpuMicroseconds.toFixed(1)} µs of processor each; the product at ${ratio} of its rate, ${cpuRatio} by processor time\n`,
          );
        }
      }
    } finally {
      await baseline.stop();
    }
  } finally {
    await product.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
};

/** Creates a Space with 60 Agents; answers the id of one. */
const fill = async (url: string, headers: Record<string, string>): Promise<string> => {
  const post = async (path: string, body: object): Promise<{ id: string }> => {
    const response = await fetch(`${url}/api/v1/core${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: string };
  };
  const space = await post('/spaces', { name: 'Load', slug: 'load' });
  let last = '';
  for (let index = 0; index < 60; index += 1) {
    last = (
      await post('/agents', {
        spaceId: space.id,
        name: `Agent ${index}`,
        description: 'Answers questions about the handbook.',
        systemPrompt: 'You answer from the handbook. '.repeat(5),
      })
    ).id;
  }
  return last;
};

const text = async (url: string, headers: Record<string, string>): Promise<string> =>
  (await fetch(url, { headers })).text();

/** Runs each measurement once a round, in turn, after rounds that only warm up. Answers the medians. */
const interleaved = async <Name extends string>(
  measurements: Record<Name, () => Promise<Rate>>,
): Promise<Record<Name, Rate>> => {
  const names = Object.keys(measurements) as Name[];
  const seen = new Map<Name, Rate[]>(names.map((name) => [name, []]));
  for (let round = -WARMING; round < ROUNDS; round += 1) {
    for (const name of names) {
      const rate = await measurements[name]();
      if (round >= 0) seen.get(name)?.push(rate);
    }
  }
  const of = (name: Name, read: (rate: Rate) => number): number => median((seen.get(name) ?? []).map(read));
  return Object.fromEntries(
    names.map((name) => [
      name,
      { perSecond: of(name, (rate) => rate.perSecond), cpuMicroseconds: of(name, (rate) => rate.cpuMicroseconds) },
    ]),
  ) as Record<Name, Rate>;
};

void main();
