import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

interface NestCli {
  readonly projects: Readonly<Record<string, { readonly root: string }>>;
}
interface LintRules {
  readonly overrides: readonly {
    readonly files: readonly string[];
    readonly rules: Readonly<Record<string, unknown>>;
  }[];
}

const root = join(__dirname, '..');
const read = <T>(file: string): T => JSON.parse(readFileSync(join(root, file), 'utf8')) as T;
const folders = (of: string): string[] =>
  readdirSync(join(root, of), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${of}/${name}`);

it('nest-cli.json names every application, library and view, and nothing else', () => {
  const named = Object.values(read<NestCli>('nest-cli.json').projects).map((project) => project.root);
  expect(named.toSorted()).toEqual([...folders('apps'), ...folders('libs'), ...folders('projections')].toSorted());
});

it('every library says what it may import, and reaches into no other past its name', () => {
  const bounds = read<LintRules>('test/oxlintrc.json').overrides.filter(({ files, rules }) =>
    files.some((file) => /^\*\*\/(libs|projections)\//.test(file) && Array.isArray(rules['no-restricted-imports'])),
  );
  const bounded = bounds.flatMap(({ files }) => files);
  expect(folders('libs').filter((library) => !bounded.includes(`**/${library}/src/**`))).toEqual([]);
  expect(bounds.filter(({ rules }) => !JSON.stringify(rules).includes('"**/src/**"'))).toEqual([]);
});

it('no library is imported by an expression: the build would leave its name as it is, and Node knows none of that name', () => {
  const sources = ['apps', 'libs', 'projections'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !/[.-]spec\.ts$/.test(file))
      .map((file) => join(root, folder, file)),
  );
  const named = sources.filter((file) =>
    /await import\(\s*['"]@(?:app|projections)\//.test(readFileSync(file, 'utf8')),
  );
  expect([sources.length > 500, named]).toEqual([true, []]);
});

it('every input of a handler has the type of its schema', () => {
  const inputs = readdirSync(join(root, 'apps/api/src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.controller.ts'))
    .flatMap((file) => [
      ...readFileSync(join(root, 'apps/api/src', file), 'utf8').matchAll(
        /@(?:Body|Query)Input\((\w+)\) \w+: ([^,)]+)/g,
      ),
    ]);
  expect(inputs.length).toBeGreaterThan(40);
  expect(inputs.filter(([, schema, type]) => type !== `Input<typeof ${schema}>`).map(([text]) => text)).toEqual([]);
});

it('every decision record stands in the index', () => {
  const index = readFileSync(join(root, 'docs/decisions/README.md'), 'utf8');
  const records = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
  expect(records.length).toBeGreaterThan(20);
  expect(records.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});

describe('a dependency of package.json', () => {
  interface Manifest {
    readonly scripts: Readonly<Record<string, string>>;
    readonly dependencies: Readonly<Record<string, string>>;
    readonly devDependencies: Readonly<Record<string, string>>;
  }
  /** Loaded by another that is listed, which asks for it as its peer. */
  const PEERS: Readonly<Record<string, string>> = {
    '@fastify/static': 'SwaggerModule serves the files of /docs with it.',
    'oxlint-tsgolint': 'Oxlint reads types with it.',
    rxjs: 'Nest is built on it.',
  };
  const { scripts, dependencies, devDependencies } = read<Manifest>('package.json');
  const sources = ['apps', 'libs', 'projections', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|cjs|mjs)$/.test(name) && name !== basename(__filename))
      .map((name) => readFileSync(join(root, folder, name), 'utf8')),
  );
  /** Named as a whole or by a path in it: by an import, a resolution, a setting. */
  const isNamed = (name: string): boolean =>
    sources.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`));
  const commands = [...Object.values(scripts), ...sources].join('\n');
  const isRun = (name: string): boolean => {
    const { bin = {} } = read<{ bin?: string | Record<string, string> }>(`node_modules/${name}/package.json`);
    const names = typeof bin === 'string' ? [name] : Object.keys(bin);
    return names.some((command) => new RegExp(`(?:^|[\\s'"/])${command}(?:$|[\\s'"/])`, 'm').test(commands));
  };
  const isUsed = (name: string): boolean => isNamed(name) || isRun(name) || name.startsWith('@types/');
  const listed = Object.keys({ ...dependencies, ...devDependencies });

  it('is imported, run, or asked for by another', () => {
    expect(listed.length).toBeGreaterThan(40);
    expect(listed.filter((name) => !isUsed(name) && PEERS[name] === undefined)).toEqual([]);
  });

  it('stands among the peers only where nothing else uses it', () =>
    expect(Object.keys(PEERS).filter((name) => !listed.includes(name) || isNamed(name))).toEqual([]));
});
