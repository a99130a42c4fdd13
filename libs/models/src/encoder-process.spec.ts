import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'encoder-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('keeps nobody from ending who waits for no vector', () => {
  const script = join(folder, 'encoder.cjs');
  writeFileSync(
    script,
    `process.on('message', ({ id, texts }) => process.send({ id, vectors: texts.map(() => new Float32Array(1)) }));
     process.on('disconnect', () => process.exit(0));`,
  );
  const encode = `
    const { EncoderProcess } = require(${JSON.stringify(join(__dirname, 'encoder-process.ts'))});
    const encoder = new EncoderProcess('small', ${JSON.stringify(script)}, []);
    const encoded = async () => (await encoder.encode(['a'], new AbortController().signal)).length;
    void encoded().then(encoded).then((vectors) => console.log(vectors));`;
  const { status, stdout } = spawnSync(
    process.execPath,
    ['--require', join(__dirname, '../../../test/register.cjs'), '--eval', encode],
    // Less than it keeps a process that is idle.
    { encoding: 'utf8', timeout: 25_000 },
  );
  expect([status, stdout]).toEqual([0, '1\n']);
});
