import { createHash, createCipheriv, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync, deflateRawSync } from 'node:zlib';
import { startChild } from '../e2e/child';
import { zipFile } from '../fixtures/files/office';
import { median } from './rate';
import { KEY } from './product';

/**
 * Skills over HTTP, through the whole product: importing one of 500 files of 20 KiB beside a bare loop that inflates, hashes, encrypts and writes
 * them, each to the disk (target: 0.5 of its rate), then publishing it beside publishing one of one file (target: 1.5 times as long).
 */

const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const FILES = 500;
const BYTES = 20 * 1024;

const filesOf = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`files/${index}.md`, randomBytes(BYTES / 2).toString('hex')]),
  );
const archive = (name: string, files: Readonly<Record<string, string>>): Buffer =>
  zipFile({ 'SKILL.md': `---\nname: ${name}\ndescription: Load.\n---\nDo it.\n`, ...files });

/** What no import can do without, milliseconds. */
const bare = (packed: readonly Buffer[]): number => {
  const folder = mkdtempSync(join(tmpdir(), 'load-bare-'));
  const began = performance.now();
  for (const [index, bytes] of packed.entries()) {
    const text = inflateRawSync(bytes);
    createHash('sha256').update(text).digest();
    const cipher = createCipheriv('aes-256-gcm', randomBytes(32), randomBytes(12));
    const file = openSync(join(folder, String(index)), 'w');
    writeSync(file, Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]));
    fsyncSync(file);
    closeSync(file);
  }
  const took = performance.now() - began;
  rmSync(folder, { recursive: true });
  return took;
};

const main = async (): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'load-skills-'));
  const product = await startChild('apps/api/src/main.ts', {
    DATA_DIR: dataDir,
    PORT: '0',
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'warn',
  });
  const send = async (path: string, body: string | FormData): Promise<{ readonly id: string }> => {
    const response = await fetch(`${product.url}/api/v1/core${path}`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}) },
      body,
    });
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text) as { id: string };
  };
  try {
    const { id: spaceId } = await send('/spaces', JSON.stringify({ name: 'Load' }));
    const timed = async <T>(work: () => Promise<T>): Promise<{ readonly took: number; readonly result: T }> => {
      const began = performance.now();
      const result = await work();
      return { took: performance.now() - began, result };
    };
    const imported = (name: string, zip: Buffer) =>
      timed(() => {
        const form = new FormData();
        form.append('scope', 'space');
        form.append('spaceId', spaceId);
        form.append('file', new Blob([new Uint8Array(zip)]), `${name}.zip`);
        return send('/skills', form);
      });
    const took = {
      bare: [] as number[],
      many: [] as number[],
      publishMany: [] as number[],
      publishOne: [] as number[],
    };
    for (let round = -1; round < ROUNDS; round += 1) {
      const [files, one] = [filesOf(FILES), filesOf(1)];
      const loop = bare(Object.values(files).map((text) => deflateRawSync(text)));
      const many = await imported(`many-${round + 1}`, archive(`many-${round + 1}`, files));
      const few = await imported(`one-${round + 1}`, archive(`one-${round + 1}`, one));
      const publishMany = await timed(() => send(`/skills/${many.result.id}/publish`, '{}'));
      const publishOne = await timed(() => send(`/skills/${few.result.id}/publish`, '{}'));
      if (round < 0) continue;
      took.bare.push(loop);
      took.many.push(many.took);
      took.publishMany.push(publishMany.took);
      took.publishOne.push(publishOne.took);
    }
    const [loop, many] = [median(took.bare), median(took.many)];
    const [published, publishedOne] = [median(took.publishMany), median(took.publishOne)];
    console.log(
      `importing ${FILES} files of 20 KiB ${many.toFixed(0)} ms, a bare loop ${loop.toFixed(0)} ms: ratio ${(loop / many).toFixed(2)} (target 0.50)`,
    );
    console.log(
      `publishing ${FILES} files ${published.toFixed(1)} ms, one ${publishedOne.toFixed(1)} ms: ${(published / publishedOne).toFixed(2)} times as long (target 1.50)`,
    );
  } finally {
    await product.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
};

void main();
