import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

/** Generates a client as `docs/clients.md` says, checks its types against the program there, and runs that. */
const root = join(__dirname, '../..');
const page = readFileSync(join(root, 'docs/clients.md'), 'utf8');
const blockOf = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? '';

let platform: TestPlatform;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'client-'));
  platform = await startTestPlatform({ listen: true });
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true });
});

const run = (command: string, ...given: string[]): Promise<string> =>
  new Promise((resolve, reject) =>
    execFile(
      command,
      given,
      {
        cwd: folder,
        timeout: 120_000,
        env: { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}` },
      },
      (error, out, err) => (error === null ? resolve(out) : reject(new Error(`${error.message}\n${out}\n${err}`))),
    ),
  );

it('a client is generated, has types and names, and talks to the product', async () => {
  const commands = blockOf('sh')
    .replaceAll('http://127.0.0.1:3000', platform.url)
    .replaceAll(/npx @hey-api\/openapi-ts@[\d.]+/g, 'openapi-ts');
  await run('/bin/bash', '-euo', 'pipefail', '-c', commands);
  const program = blockOf('ts');
  writeFileSync(join(folder, 'program.ts'), program);
  writeFileSync(
    join(folder, 'wrong.ts'),
    program.replace("name: 'Library'", 'title: 1').replace("scope: 'agent'", "scope: 'all'"),
  );
  const strict = ['--strict', '--exactOptionalPropertyTypes', 'false', '--skipLibCheck'];
  const target = ['--module', 'commonjs', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--outDir', 'out'];
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types'), '--ignoreDeprecations', '6.0'];
  const said = await run('tsc', 'program.ts', 'wrong.ts', ...strict, ...target, ...types).catch(String);
  expect(said.split('\n').filter((line) => line.includes('error TS'))).toEqual([
    expect.stringMatching(/^wrong\.ts.*(?:TS2353|TS2322)/),
    expect.stringMatching(/^wrong\.ts.*TS2322/),
  ]);
  expect(await run(process.execPath, 'out/program.js', platform.url, ADMIN_KEY)).toBe(
    'owner Edsger Grace Ada\nstop 0\nlift.txt text/plain\nlift.txt text/plain, keys.md text/markdown\nnot_found\n',
  );
}, 300_000);
