import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Installs the package, of 470 MB, in a folder apart; without the GPU's libraries, which it would download else. */
export const installTransformers = (folder: string): void => {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '@huggingface/transformers@4.3.1'], {
    cwd: folder,
    env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' },
    stdio: 'ignore',
    timeout: 300_000,
  });
};
