import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from '../e2e/child';
import { median, requestsPerSecond } from './rate';

/**
 * Reads over HTTP: one Agent, and a list of 50, through the whole product, against Nest + Fastify routes that return a
 * constant of the same size, as text and as an object. The product and the baseline run each in a process of its own, one
 * after the other in rounds. Prints requests a second and the ratio of the medians; the target is 0.70.
 */

const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const SECONDS = Number(process.env['SECONDS'] ?? 3);
const KEY = 'load-test-key-0123456789-abcdefghijklmnop';

const main = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'load-http-'));
  const product = await startChild('apps/api/src/main.ts', { DATA_DIR: dataDir, PORT: '0', BOOTSTRAP_API_KEY: KEY, LOG_LEVEL: 'info' });
  try {
    const headers = { 'x-api-key': KEY };
    const agentId = await fill(product.url, headers);
    const targets = { one: `${product.url}/api/v1/core/agents/${agentId}`, list: `${product.url}/api/v1/core/agents?limit=50` };
    const texts = { one: await text(targets.one, headers), list: await text(targets.list, headers) };
    const baseline = await startChild('test/load/http-baseline.ts', { CONSTANTS: JSON.stringify(texts) });
    try {
      for (const name of ['one', 'list'] as const) {
        const rates = await interleaved({
          product: () => requestsPerSecond(targets[name], SECONDS, headers),
          text: () => requestsPerSecond(`${baseline.url}/text/${name}`, SECONDS),
          object: () => requestsPerSecond(`${baseline.url}/object/${name}`, SECONDS),
        });
        const line = (other: 'text' | 'object') => `${(rates.product / rates[other]).toFixed(2)} of a constant ${other} (${Math.round(rates[other])}/s)`;
        process.stdout.write(`${name === 'one' ? 'GET one Agent' : 'GET a list of 50'} (${texts[name].length} bytes): ${Math.round(rates.product)}/s, ${line('text')}, ${line('object')}\n`);
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
    const response = await fetch(`${url}/api/v1/core${path}`, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) });
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: string };
  };
  const space = await post('/spaces', { name: 'Load', slug: 'load' });
  let last = '';
  for (let index = 0; index < 60; index += 1) {
    last = (await post('/agents', { spaceId: space.id, name: `Agent ${index}`, description: 'Answers questions about the handbook.', systemPrompt: 'You answer from the handbook. '.repeat(5) })).id;
  }
  return last;
};

const text = async (url: string, headers: Record<string, string>): Promise<string> => (await fetch(url, { headers })).text();

type Rates<Name extends string> = Record<Name, number>;

/** Runs each measurement once a round, in turn; the first round only warms up. Answers the medians. */
const interleaved = async <Name extends string>(measurements: Record<Name, () => Promise<number>>): Promise<Rates<Name>> => {
  const names = Object.keys(measurements) as Name[];
  const seen = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const name of names) {
      const rate = await measurements[name]();
      if (round > 0) seen.get(name)?.push(rate);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(seen.get(name) ?? [])])) as Rates<Name>;
};

void main();
