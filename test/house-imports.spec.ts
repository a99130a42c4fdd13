import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(__dirname, '..');

/** From the innermost outwards. What stands in one line may import what stands in it and before it, where lint lets it, but never in a circle. */
const LAYERS: readonly (readonly string[])[] = [
  ['kernel', 'telemetry'],
  ['event-log', 'read-store', 'coordination', 'search-index', 'vault', 'blobs', 'models', 'extraction', 'tools'],
  ['projecting', 'sealing', 'erasure', 'auditing', 'backup', 'relay', 'reservations', 'screening'],
  ['identity', 'spaces', 'agents', 'knowledge', 'section-summaries', 'conversations', 'skills', 'memory', 'spending'],
  ['access', 'http'],
  ['projections'],
  ['hosting', 'process'],
  ['apps'],
];

interface Import {
  readonly file: string;
  /** A library by its folder, a view as `projections/<view>`, an application as `apps/<name>`. */
  readonly from: string;
  readonly to: string;
  /** As it is written, such as `@app/kernel/threads`. */
  readonly name: string;
}

/** Every name of a library or view in the sources: imported, loaded when it is needed, or of a type alone. */
const imports: readonly Import[] = ['apps', 'libs', 'projections'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/(?:[.-]spec|\.contract)\.ts$/.test(file))
    .flatMap((file) => {
      const [part = ''] = file.split('/');
      const from = folder === 'libs' ? part : `${folder}/${part}`;
      return [...readFileSync(join(root, folder, file), 'utf8').matchAll(/'@(app|projections)\/([\w-]+)[\w/-]*'/g)].map(
        ([name, kind, library = '']) => ({
          file: `${folder}/${file}`,
          from,
          to: kind === 'app' ? library : `projections/${library}`,
          name: name.slice(1, -1),
        }),
      );
    })
    .filter(({ from, to }) => from !== to),
);

/** The one line that needs no names in an index: its threads have a list of names themselves. */
const THREADS = "export * from './threads';";

/** The part of the sources that a file is in, such as `libs/agents` and `apps/api`. */
const partOf = (file: string): string => file.split('/').slice(0, 2).join('/');

it('no path of a file leads into another part, in an import, a type or a call', () => {
  const paths = ['apps', 'libs', 'projections'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !/(?:[.-]spec|\.contract)\.ts$/.test(file))
      .map((file) => `${folder}/${file}`)
      .flatMap((file) =>
        [...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import|require)[ (]+'(\.{1,2}\/[^']*)'/g)].map(
          ([, path = '']) => ({ file, to: join(dirname(file), path) }),
        ),
      ),
  );
  expect(paths.length).toBeGreaterThan(3000);
  expect(paths.filter(({ file, to }) => partOf(file) !== partOf(to))).toEqual([]);
});

const layerOf = (library: string): number => LAYERS.findIndex((layer) => layer.includes(library.replace(/\/.*/, '')));

it('no import points upwards', () => {
  expect(imports.length).toBeGreaterThan(2000);
  expect(imports.filter(({ from, to }) => layerOf(to) < 0 || layerOf(from) < layerOf(to))).toEqual([]);
});

it('no libraries and views import each other in a circle', () => {
  const left = new Map<string, Set<string>>();
  for (const { from, to } of imports) left.set(from, (left.get(from) ?? new Set()).add(to));
  // What imports nothing that is left is in no circle.
  for (let found = true; found;) {
    const free = [...left].filter(([, targets]) => ![...targets].some((target) => left.has(target)));
    for (const [library] of free) left.delete(library);
    found = free.length > 0;
  }
  expect([...left.keys()]).toEqual([]);
});

it('lists of lint allow what is imported, and nothing else', () => {
  interface Override {
    readonly files: readonly string[];
    readonly rules: {
      readonly 'no-restricted-imports'?: 'off' | [string, { patterns: [{ group: readonly string[] }] }];
    };
  }
  const { overrides } = JSON.parse(readFileSync(join(root, 'test/oxlintrc.json'), 'utf8')) as {
    readonly overrides: readonly Override[];
  };
  const lists = overrides.flatMap(({ files: [file = ''], rules }) => {
    const [, library] = /^\*\*\/(?:libs\/)?([\w-]+)\/(?:src\/)?\*\*$/.exec(file) ?? [];
    const rule = rules['no-restricted-imports'] ?? 'off';
    const group = rule === 'off' ? [] : rule[1].patterns[0].group;
    return library !== undefined && group.includes('@app/**') ? [{ library, group }] : [];
  });
  expect(lists.length).toBeGreaterThan(25);
  for (const { library, group } of lists) {
    const allowed = group.filter((name) => name.startsWith('!@')).map((name) => name.slice(1));
    const names = imports
      .filter(({ from }) => from === library || from.startsWith(`${library}/`))
      .map(({ name }) => (allowed.includes(name) ? name : name.replace(/^@projections\/.*/, '@projections/*')));
    expect([library, [...new Set(names)].toSorted()]).toEqual([library, allowed.toSorted()]);
  }
});

it('a library or view exports by name what others use, and nothing else', () => {
  const sources = ['apps', 'libs', 'projections', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => ({ path: `${folder}/${file}`, text: readFileSync(join(root, folder, file), 'utf8') })),
  );
  /** What others import from each index: of one that they load as a whole, every word that they have. */
  const used = new Set(
    sources.flatMap(({ path, text }) =>
      [
        ...text.matchAll(
          /(?:(?:\{([^{}]*)\}|\* as \w+) from |import\(|require\()'@(app|projections)\/([\w-]+)([\w/-]*)'/g,
        ),
      ].flatMap(([, names = text, kind, library = '', index = '']) => {
        const part = `${kind === 'app' ? 'libs' : 'projections'}/${library}`;
        return partOf(path) === part
          ? []
          : (names.match(/[A-Za-z_$][\w$]*/g) ?? []).map((name) => `${part}${index}: ${name}`);
      }),
    ),
  );
  const exports = sources.flatMap(({ path, text }) => {
    const [, part = '', index = ''] =
      /^((?:libs|projections)\/[\w-]+)\/src\/(?:.*\/)?(index|threads)\.ts$/.exec(path) ?? [];
    return part === ''
      ? []
      : [...text.matchAll(/^export (?:type )?(?:\{([^}]*)\})?.*/gm)].map(([line, names]) => ({
          path,
          part,
          index,
          line,
          names,
        }));
  });
  // `export *` lets out all that its file has for the rest of the library. Threads name what they have.
  expect(
    exports
      .filter(({ names, index, line }) => names === undefined && !(index === 'index' && line === THREADS))
      .map(({ path, line }) => `${path}: ${line}`),
  ).toEqual([]);
  const named = exports
    .filter(({ path, part }) => dirname(path) === `${part}/src`)
    .flatMap(({ path, part, index, names = '' }) =>
      names.split(',').flatMap((name) => {
        const last = name.trim().split(' ').at(-1);
        return last ? [{ path, part, index, name: last }] : [];
      }),
    );
  expect(named.length).toBeGreaterThan(1_200);
  expect(named.filter(({ part }) => part.startsWith('projections/')).length).toBeGreaterThan(100);
  // The index of a library may lead on what its threads have.
  const isUsed = ({ part, index, name }: (typeof named)[number]): boolean =>
    used.has(`${part}: ${name}`) || (index === 'threads' && used.has(`${part}/threads: ${name}`));
  expect(named.filter((one) => !isUsed(one)).map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
});
