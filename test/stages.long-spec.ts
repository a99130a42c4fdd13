import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
const JEST = ['--require', './test/register.cjs', 'node_modules/jest/bin/jest.js', '-c', 'test/jest.config.cjs'];

/** What each command of `package.json` sets, and the pattern that it passes. */
const STAGES: readonly (readonly [name: string, setting: string | undefined, pattern: readonly string[]])[] = [
  ['test', undefined, []],
  ['test:long', undefined, ['long-spec']],
  ['test:exhaustive', 'EXHAUSTIVE', ['test/exhaustive']],
  ['test:faults', 'FAULTS', ['test/faults']],
  ['test:built', 'BUILT', ['test/built']],
  ['test:servers', 'SERVERS', ['test/servers']],
];

const filesOf = ([, setting, pattern]: (typeof STAGES)[number]): readonly string[] => {
  const { EXHAUSTIVE: _e, FAULTS: _f, BUILT: _b, SERVERS: _s, ...env } = process.env;
  const listed = execFileSync(process.execPath, [...JEST, ...pattern, '--listTests'], {
    cwd: ROOT,
    env: setting === undefined ? env : { ...env, [setting]: 'true' },
    encoding: 'utf8',
  });
  return listed.trim().split('\n').toSorted();
};

it('runs every file of tests in exactly one stage', () => {
  const stages = new Map<string, string[]>();
  for (const stage of STAGES)
    for (const file of filesOf(stage)) stages.set(file, [...(stages.get(file) ?? []), stage[0]]);
  expect([...stages].filter(([, names]) => names.length > 1)).toEqual([]);
  const all = ['apps', 'libs', 'projections', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /[.-]spec\.ts$/.test(file))
      .map((file) => join(ROOT, folder, file)),
  );
  expect([...stages.keys()].toSorted()).toEqual(all.toSorted());
});
