import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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

/** Assembles the application from every library and view: it may import all of them. */
const UNBOUNDED = ['libs/hosting'];

it('nest-cli.json names every application, library and view, and nothing else', () => {
  const named = Object.values(read<NestCli>('nest-cli.json').projects).map((project) => project.root);
  expect(named.toSorted()).toEqual([...folders('apps'), ...folders('libs'), ...folders('projections')].toSorted());
});

it('every library says what it may import', () => {
  const bounded = read<LintRules>('test/oxlintrc.json')
    .overrides.filter(({ rules }) => 'no-restricted-imports' in rules)
    .flatMap(({ files }) => files);
  expect(folders('libs').filter((library) => !bounded.includes(`**/${library}/src/**`))).toEqual(UNBOUNDED);
});

it('every decision record stands in the index', () => {
  const index = readFileSync(join(root, 'docs/decisions/README.md'), 'utf8');
  const records = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
  expect(records.length).toBeGreaterThan(20);
  expect(records.filter((name) => !index.includes(`](${name})`))).toEqual([]);
});
