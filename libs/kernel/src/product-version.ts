import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of the nearest package.json above: the same from sources and from the build. */
const rootFrom = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : rootFrom(dirname(folder));

/** The folder of the product. */
export const productRoot = rootFrom(__dirname);

/** The product's version, as package.json says. */
export const productVersion = (
  JSON.parse(readFileSync(join(productRoot, 'package.json'), 'utf8')) as { version: string }
).version;
