import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

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

describe('threads and processes load what they run', () => {
  /** That of a rebuild runs all projections, which know events by their schemas, and are named by modules of the framework. */
  const ofAll = /rebuild\.thread\.ts$/;
  /** Runs projections that are named by hand, and have schemas of their rows. */
  const ofRows = /context\.thread\.ts$/;
  const started = readdirSync(join(root, 'libs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(thread|process)\.ts$/.test(file) && !ofAll.test(file))
    .map((file) => `libs/${file}`);
  const LIST = "process.on('exit', () => console.error(Object.keys(require.cache).join('\\n')))";

  it.each(started)('%s: no schemas, and no framework', (file) => {
    const folder = mkdtempSync(join(tmpdir(), 'loaded-'));
    writeFileSync(join(folder, 'list.cjs'), LIST);
    const first = [join(folder, 'list.cjs'), join(root, 'test/register.cjs')].flatMap((name) => ['--require', name]);
    // It finds nothing to do, and ends.
    const { stderr } = spawnSync(process.execPath, [...first, join(root, file)], { input: '', encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(stderr).toContain(join(root, file));
    expect(stderr).not.toMatch(/node_modules\/(?:@nestjs|rxjs)\//);
    if (!ofRows.test(file)) expect(stderr).not.toMatch(/node_modules\/zod\//);
  });
});

describe('lint rejects', () => {
  const REJECTED: readonly (readonly [what: string, file: string, line: string])[] = [
    ['a library imported by the kernel', 'libs/kernel/src/a.ts', "import '@app/event-log';"],
    ['a framework in the kernel', 'libs/kernel/src/b.ts', "import '@nestjs/common';"],
    ['a platform service imported by a port', 'libs/read-store/src/a.ts', "import '@app/projecting';"],
    ['a context imported by a platform service', 'libs/projecting/src/a.ts', "import '@app/knowledge';"],
    ['a context imported by another', 'libs/agents/src/a.ts', "import '@app/knowledge';"],
    ['a view imported by a context', 'libs/knowledge/src/a.ts', "import '@projections/documents';"],
    [
      'the part of a library for threads, where the library is not allowed',
      'libs/agents/src/b.ts',
      "import '@app/extraction/threads';",
    ],
    ['a library imported past its name', 'libs/memory/src/a.ts', "import '../../kernel/src/ids';"],
    ['a log in scope of incognito', 'libs/conversations/src/incognito/a.ts', "import '@app/event-log';"],
    [
      'the part of the log for threads in scope of incognito',
      'libs/conversations/src/incognito/b.ts',
      "import '@app/event-log/threads';",
    ],
    ['an application imported by another', 'apps/worker/src/a.ts', "import '../../api/src/program';"],
    [
      'an append beside Decisions',
      'libs/skills/src/a.ts',
      "export const write = (log: Log) => log.append('s', [], 0);",
    ],
    ['the clock in a decider', 'libs/skills/src/a.decider.ts', 'export const at = (): number => Date.now();'],
    [
      'another clock in a decider',
      'libs/skills/src/b.decider.ts',
      'export const at = (): number => performance.now();',
    ],
    ['chance in a decider', 'libs/skills/src/c.decider.ts', 'export const id = (): string => crypto.randomUUID();'],
    ['a module of Node in a decider', 'libs/skills/src/d.decider.ts', "import 'node:crypto';"],
    [
      'chance in a projection',
      'projections/skills/src/a.projection.ts',
      'export const id = (): number => Math.random();',
    ],
  ];
  const folder = mkdtempSync(join(tmpdir(), 'house-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let diagnostics: readonly { readonly code: string; readonly filename: string }[] = [];
  beforeAll(() => {
    for (const [, file, line] of REJECTED) {
      mkdirSync(join(folder, dirname(file)), { recursive: true });
      writeFileSync(join(folder, file), `${line}\n`);
    }
    const { stdout } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/oxlint/bin/oxlint'), '-c', join(root, 'test/oxlintrc.json'), '-f', 'json', folder],
      { encoding: 'utf8' },
    );
    ({ diagnostics } = JSON.parse(stdout) as { diagnostics: typeof diagnostics });
  });

  it.each(REJECTED)('%s, in one finding', (_, file) =>
    expect(
      diagnostics.filter(({ code, filename }) => /no-(?:restricted|nodejs)/.test(code) && filename.endsWith(file)),
    ).toHaveLength(1),
  );
});

it('threads of embedded stores load neither schemas nor the framework, so that they start in milliseconds', () => {
  const threads = ['read-store/src/sqlite/views-writer', 'coordination/src/sqlite/entries-writer'].concat([
    'search-index/src/sqlite/search-files',
    'vault/src/sqlite/vault-writer',
    'event-log/src/sqlite/writer',
  ]);
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--require',
      join(root, 'test/register.cjs'),
      '-e',
      `for (const name of ${JSON.stringify(threads)}) require('${root}/libs/' + name + '.ts');
       console.log(Object.keys(require.cache).join('\\n'));`,
    ],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  expect(stdout).toContain('vault-writer.ts');
  expect(stdout.split('\n').filter((file) => /node_modules\/(zod|rxjs|@nestjs)\//.test(file))).toEqual([]);
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

it('every decision record stands in the index, both with the dates of its sections', () => {
  const textOf = (name: string) => readFileSync(join(root, 'docs/decisions', name), 'utf8');
  const index = textOf('README.md').split('\n');
  const records = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
  expect(records.length).toBeGreaterThan(20);
  const wrong = records.filter((name) => {
    const decided = /^Accepted · (.*)$/m.exec(textOf(name))?.[1] ?? 'nothing';
    const dates = [...textOf(name).matchAll(/^\d{4}-\d\d-\d\d/gm)].map(([date]) => date);
    const row = index.find((line) => line.includes(`](${name}) |`));
    return row?.endsWith(`| accepted | ${decided} |`) !== true || !dates.every((date) => decided.includes(date));
  });
  expect(wrong).toEqual([]);
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

it('a command stands in a file of its name, and nothing else of its kind', () => {
  const commands = readdirSync(join(root, 'libs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/[.-]spec\.ts$|\.contract\.ts$/.test(file))
    .flatMap((file) =>
      [...readFileSync(join(root, 'libs', file), 'utf8').matchAll(/^export class (\w+) extends Command</gm)].map(
        ([, name = '']) => ({ file, name: name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase() }),
      ),
    );
  expect(commands.length).toBeGreaterThan(60);
  expect(commands.filter(({ file, name }) => !file.endsWith(`/commands/${name}.ts`))).toEqual([]);
});

it('the table of folders in architecture.md names every application and library', () => {
  const rows = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
    .split('\n')
    .flatMap((line) => /^\| (`(?:apps|libs)\/[^|]*) \|/.exec(line)?.[1] ?? []);
  const named = rows.flatMap((row) => {
    const names = [...row.matchAll(/`([\w/-]+)`/g)].map(([, name = '']) => name);
    const folder = names[0]?.replace(/\/.*/, '');
    return names.map((name) => (name.includes('/') ? name : `${folder}/${name}`));
  });
  expect(named.toSorted()).toEqual([...folders('apps'), ...folders('libs')].toSorted());
});

it('a handler creates, updates and deletes as its operation does: it does not add, change and remove', () => {
  const handlers = readdirSync(join(root, 'apps/api/src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.controller.ts'))
    .flatMap((file) => [
      ...readFileSync(join(root, 'apps/api/src', file), 'utf8').matchAll(
        /operationId: '((?:create|update|delete)\w*)'[^]*?\n {2}(?:async )?(\w+)\(/g,
      ),
    ]);
  expect(handlers.length).toBeGreaterThan(30);
  expect(
    handlers.flatMap(([, operation, name = '']) => (/^(?:add|change|remove)/.test(name) ? operation : [])),
  ).toEqual([]);
});

it('every module with aggregates has a spec that makes it with other ports', () => {
  const modules = readdirSync(join(root, 'libs'), { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      file.endsWith('.module.ts') &&
      readFileSync(join(root, 'libs', file), 'utf8').includes('static readonly aggregates'),
  );
  expect(modules.length).toBeGreaterThan(12);
  const specOf = (file: string): string => join(root, 'libs', file.replace(/ts$/, 'spec.ts'));
  // Each of them makes that of projecting too.
  expect(modules.filter((file) => !existsSync(specOf(file)))).toEqual(['projecting/src/projecting.module.ts']);
});
