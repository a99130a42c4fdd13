import 'reflect-metadata';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { productRoot } from '@app/kernel';
import { generatedFiles } from './generated-files';

/** Writes every generated file. A test fails if one is out of date. */
const generate = async (): Promise<void> => {
  for (const [path, write] of Object.entries(generatedFiles)) {
    const file = join(productRoot, path);
    const present = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const text = await write(present);
    if (text === present) continue;
    writeFileSync(file, text);
    process.stdout.write(`${path} was written\n`);
  }
};

void generate();
