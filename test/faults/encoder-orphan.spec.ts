import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(__dirname, '..', '..');
const child = join(root, 'libs/models/src/local/use-lite/encoder.child.ts');

/** Asks the encoder for more than it can do at once, and is killed when the first answer comes. */
const PARENT = `
  const encoder = require('node:child_process').fork(process.argv[1], [process.argv[2]], { stdio: 'inherit' });
  for (let id = 0; id < 50; id += 1) encoder.send({ id, texts: ['They sleep standing up. '.repeat(50)] });
  encoder.once('message', () => process.kill(process.pid, 'SIGKILL'));
`;

test('the process of the local embedding model ends with the product that was killed, and says nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'encoder-'));
  for (let round = 0; round < 4; round += 1) {
    const product = spawn(
      process.execPath,
      ['--require', join(root, 'test/register.cjs'), '-e', PARENT, child, folder],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let said = '';
    for (const stream of [product.stdout, product.stderr])
      stream.on('data', (bytes: Buffer) => (said += bytes.toString()));
    // The pipes close when the encoder, which holds them too, has ended.
    await new Promise((resolve) => product.once('close', resolve));
    expect([said, product.signalCode]).toEqual(['', 'SIGKILL']);
  }
  rmSync(folder, { recursive: true });
});
