import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { productRoot } from '@app/kernel';
import { generatedFiles } from './generated-files';
import { INTEGRATION_EVENTS } from './integration-events';

test.each(Object.entries(generatedFiles))('%s is what `npm run generate` writes', async (path, write) => {
  const file = join(productRoot, path);
  const present = existsSync(file) ? readFileSync(file, 'utf8') : '';
  expect(present).toBe(await write(present));
});

test('no schema of an integration event is left that nothing writes', () => {
  const present = readdirSync(join(productRoot, INTEGRATION_EVENTS)).filter((file) => file.endsWith('.json'));
  expect(present.map((file) => `${INTEGRATION_EVENTS}/${file}`).filter((path) => !(path in generatedFiles))).toEqual(
    [],
  );
});
