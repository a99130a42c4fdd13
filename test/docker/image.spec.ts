import { builtinModules } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const lines = read('docker/Dockerfile')
  .split('\n')
  .filter((line) => !line.startsWith('#'));
const final = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));

/** Source and target of each COPY of the last stage. */
const copied = final
  .filter((line) => line.startsWith('COPY '))
  .flatMap((line) =>
    line
      .replace(/--from=\S+ /, '')
      .split(/\s+/)
      .slice(1, -1),
  );

const manifest = JSON.parse(read('package.json')) as Readonly<
  Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Readonly<Record<string, string>>>
>;

const sources = ['apps', 'libs', 'projections']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((name) => name.endsWith('.ts') && !/\.(spec|long-spec|contract)\.ts$|\/contract\//.test(name));

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** Packages that the product's sources import, types aside. */
const imported = new Set(
  sources.flatMap((name) =>
    [
      ...read(name).matchAll(
        /^(?:import (?!type)[^;]*?from |export [^;]*?from |import )'([^'.][^']*)'|(?:import|require)\('([^'.][^']*)'\)/gm,
      ),
    ].map(([, one, other]) => packageOf((one ?? other) as string)),
  ),
);

describe('docker/Dockerfile', () => {
  it('puts what runs into the image and nothing else', () => {
    expect(copied.map((name) => name.replace('/app/', ''))).toEqual([
      'package.json',
      'node_modules',
      'dist',
      'config',
      'README.md',
      'LICENSE',
      'docs',
    ]);
  });

  it('builds from pinned images, as a user who is not root', () => {
    for (const line of lines.filter((line) => line.startsWith('FROM ')))
      expect(line).toMatch(/^FROM node:\d+\.\d+\.\d+-/);
    expect(final).toContain('USER node');
    expect(final.findLastIndex((line) => line.startsWith('RUN '))).toBeLessThan(final.indexOf('USER node'));
  });

  it('lets only what the build needs into its context: no data, no secrets, no tests', () => {
    const [nothing, ...rest] = read('docker/Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(nothing).toBe('*');
    const allowed = rest.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const needed = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(allowed.toSorted()).toEqual([...new Set(needed)].toSorted());
  });

  it('keeps every package that the product imports when those for development go', () => {
    const kept = new Set([...Object.keys(manifest.dependencies), ...builtinModules]);
    const missing = [...imported].filter(
      (name) =>
        !name.startsWith('node:') && !name.startsWith('@app/') && !name.startsWith('@projections/') && !kept.has(name),
    );
    expect(missing).toEqual([]);
  });
});
