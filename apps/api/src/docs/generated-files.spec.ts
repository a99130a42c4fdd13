import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedFiles } from './generated-files';
import { productRoot } from './version';

test.each(Object.entries(generatedFiles))('%s is what `npm run generate` writes', (path, write) => {
  const file = join(productRoot, path);
  const present = existsSync(file) ? readFileSync(file, 'utf8') : '';
  expect(present).toBe(write(present));
});
