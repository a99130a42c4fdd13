import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';
import { operatorOn } from './on-stores';

/** Runs the commands of the documentation against a fresh product, as a reader copies them. */
const root = join(__dirname, '../..');
const blocksOf = (page: string, heading: string): readonly string[] => {
  const text = readFileSync(join(root, page), 'utf8');
  const start = text.indexOf(`\n## ${heading}\n`);
  if (heading !== '' && start === -1) throw new Error(`${page} has no heading ${heading}`);
  const end = heading === '' ? -1 : text.indexOf('\n## ', start + 1);
  const part = text.slice(Math.max(start, 0), end === -1 ? undefined : end);
  return [...part.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block as string);
};

let platform: TestPlatform;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'documentation-'));
  copyFileSync(join(root, 'README.md'), join(folder, 'README.md'));
  platform = await startTestPlatform({ listen: true });
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true });
});

/** What a reader fills in: the address, where it is another, and the key from the box. */
const filledIn = (commands: string): string =>
  commands
    .replaceAll('http://127.0.0.1:3000', platform.url)
    .replaceAll(/\b(export (?:PLATFORM_API_)?KEY)=\.\.\./g, `$1=${ADMIN_KEY}`);

/** Ends with the first command that fails. */
const shell = (commands: string) =>
  new Promise<string>((resolve, reject) =>
    execFile(
      '/bin/bash',
      ['-euo', 'pipefail', '-c', commands],
      { cwd: folder, timeout: 170_000, maxBuffer: 16 * 1024 * 1024 },
      (error, out, err) => (error === null ? resolve(out) : reject(new Error(`${error.message}\n${out}\n${err}`))),
    ),
  );

it('the first conversation, and what goes on from it, answer with citations and without an error', async () => {
  const conversation = blocksOf('README.md', 'A first conversation').join('\n');
  const chapters = ['Knowledge', 'Skills', 'Memory'].flatMap((heading) => blocksOf('README.md', heading)).join('\n');
  const [answers = '', guide = '', knowledge = ''] = ['conversations', 'api', 'knowledge'].map((page) =>
    blocksOf(`docs/${page}.md`, '').join('\n'),
  );
  const printed = await shell(
    filledIn([conversation, chapters, answers, guide, knowledge].join('\necho "== next page"\n')),
  );
  const [first = '', more = '', answered = '', after = '', known = ''] = printed.split('== next page');
  expect(first).toMatch(/"type":"source-document".*README\.md/);
  expect(first).toContain('./data');
  expect(first.match(/"type":"source-document"/g)?.length).toBeGreaterThanOrEqual(2);
  expect(first).toContain('data: [DONE]');
  expect(first).toContain('"object":"chat.completion"');
  for (const said of ['"position":', '"status":"published"', '"hasDraft":false', '"text":"I prefer metric units."'])
    expect(more).toContain(said);
  expect(answered.match(/data: \[DONE\]/g)).toHaveLength(2);
  for (const said of ['"agentRevision"', '"rating":"up"', '"boundary']) expect(answered).toContain(said);
  expect(after).toContain('"name":"Librarian"');
  expect(after).toContain('"swapped"');
  expect(after).not.toContain('"status":4');
  for (const said of ['"row":3', '"enabled":false', '"results":[', '"upload":["handel/preise.csv"]', '"state":"ready"'])
    expect(known).toContain(said);
});

it('memories are saved, shared, replaced and forgotten, and a tool is given, by the commands of their pages', async () => {
  const [begin = ''] = blocksOf('README.md', 'A first conversation').join('\n').split('# Upload');
  const pages = ['docs/memory.md', 'docs/tools.md'].flatMap((page) => blocksOf(page, '')).join('\n');
  const said = await shell(filledIn(`${begin.replace('"Handbook"', '"Notebook"')}\n${pages}`));
  expect(said).toContain('"status":"saved"');
  expect(said).toContain('"text":"I prefer imperial units."');
  expect(said).toContain('"text":"I use both kinds of units."');
  expect(said).toMatch(/"id":"weather".*"hasSecret":true/);
});

it('the gateway answers each call', async () => {
  const printed = await shell(filledIn(blocksOf('docs/gateway.md', '').join('\n').replaceAll('curl ', 'curl -fsS ')));
  for (const said of ['"secret"', '"local-chat"', '"chat.completion"', '[DONE]', '"embedding"', '"relevance_score"'])
    expect(printed).toContain(said);
});

describe('the command line', () => {
  /** The words of each line, by the rules of a shell as far as the pages use them. */
  const linesOf = (blocks: readonly string[], variables: Readonly<Record<string, string>>) =>
    filledIn(blocks.join('\n'))
      .split('\n')
      .filter((line) => line.startsWith('npm run --silent operator -- '))
      .map((line) =>
        [...line.replace(/\s+#.*$/, '').matchAll(/\$\([^)]*\)|"[^"]*"|\S+/g)].slice(5).map(([word]) =>
          word
            .replaceAll('"', '')
            .replaceAll(/\$\(date[^)]*\)/g, new Date().toISOString())
            .replaceAll(/\$([A-Z_]+)/g, (_, name: string) => variables[name] ?? `unset:${name}`),
        ),
      );
  const cases = async () => {
    const space = await platform.call<{ id: string }>('/api/v1/core/spaces', {
      method: 'POST',
      body: { name: 'Read' },
    });
    const agent = await platform.call<{ id: string }>('/api/v1/core/agents', {
      method: 'POST',
      body: { spaceId: space.body.id, name: 'Read' },
    });
    const { userId } = await platform.newCaller();
    return { AGENT: agent.body.id, USER_ID: userId };
  };

  it.each([
    ['docs/audit.md', 'See what happened'],
    ['docs/audit.md', 'Verify the log'],
    ['docs/operate.md', 'Views'],
    ['docs/operate.md', 'Prices'],
  ])('does each line of %s, %s', async (page, heading) => {
    const lines = linesOf(blocksOf(page, heading), await cases());
    expect(lines.length).toBeGreaterThan(2);
    const environment = { PLATFORM_URL: platform.url, PLATFORM_API_KEY: ADMIN_KEY, DATA_DIR: platform.dataDir };
    for (const words of lines) {
      const inFolder = words.map((word) => (word.endsWith('.ndjson') ? join(folder, word) : word));
      const { code, err } = await operatorOn(environment, ...inFolder);
      expect([words.join(' '), code, err.replaceAll(/^.*\r/gm, '')]).toEqual([words.join(' '), 0, expect.any(String)]);
    }
  });
});
