import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { installDouble, sentenceTransformer, writeFiles } from '../../../../test/fixtures/sentence-transformer';
import { readConfig } from '@app/kernel';
import { Models } from '@app/models';
import { FAILURES } from '../../../../libs/knowledge/src/ingestion/ingestion-failure';

/** What the documentation says, as far as it can be tried without a product; `test/e2e/documentation.long-spec.ts` runs its commands. */
const root = join(__dirname, '../../../..');
const read = (page: string): string => readFileSync(join(root, page), 'utf8');
const readme = read('README.md');
const configuration = read('docs/configuration.md');
const pages = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const commandsOf = (text: string): string =>
  [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block as string).join('\n');

it('has a README that is read in a sitting', () => expect(readme.split('\n').length).toBeLessThanOrEqual(150));

describe('a page with commands', () => {
  const tried = pages.filter((page) => commandsOf(read(page)) !== '');

  it('is the README, and each page that tells how', () =>
    expect(tried).toEqual(
      expect.arrayContaining(['README.md', 'docs/api.md', 'docs/gateway.md', 'docs/audit.md', 'docs/operate.md']),
    ));

  it.each(tried)('sets every variable before it uses it: %s', (page) => {
    const set = new Set(['PATH', 'HOME']);
    const unset: string[] = [];
    // These go on from the README and say so.
    const text = ['api', 'knowledge', 'conversations', 'memory', 'tools'].includes(
      page.replace(/^docs\/(.*)\.md$/, '$1'),
    )
      ? `${readme}\n${read(page)}`
      : read(page);
    for (const line of commandsOf(text).split('\n')) {
      for (const [, name = ''] of line.matchAll(/\$\{?([A-Z][A-Z_]+)\b/g))
        if (!set.has(name)) unset.push(`${name}: ${line}`);
      for (const [, name = ''] of line.matchAll(/(?:^|\s|;)([A-Z][A-Z_]+)=/g)) set.add(name);
    }
    expect(unset).toEqual([]);
  });
});

describe('a link', () => {
  /** As GitHub makes them. */
  const anchorsOf = (text: string): readonly string[] =>
    [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    );

  it.each(pages)('leads to a file, and to a heading of it, on %s', (page) => {
    const text = read(page).replaceAll(/^```[^]*?^```$/gm, '');
    const broken = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].filter(([, link = '']) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : relative(root, join(root, dirname(page), path));
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
    });
    expect(broken.map(([, link]) => link)).toEqual([]);
  });
});

describe('a route', () => {
  const { paths } = JSON.parse(read('docs/openapi.json')) as { paths: Readonly<Record<string, unknown>> };
  const guides = pages.filter(
    (page) =>
      /^(?:README|docs\/[a-z]+(?:-[a-z]+)*)\.md$/.test(page) && !/benchmarks|checks|catalogue|adding/.test(page),
  );
  const parts = (path: string): readonly string[] => path.split('/').filter((part) => part !== '' && part !== '...');
  /** A page may leave out the beginning of a path and say a parameter in its own words, or by a value. */
  const names = (said: readonly string[], route: string, takesValues = false): boolean => {
    const tail = parts(route).slice(-said.length);
    return (
      tail.length === said.length &&
      tail.some((part) => !part.startsWith('{')) &&
      said.every((part, at) => part === tail[at] || ((takesValues || /^[{$]/.test(part)) && tail[at]?.startsWith('{')))
    );
  };
  const said = guides.flatMap((page) =>
    [...read(page).matchAll(/(?:(GET|POST|PUT|DELETE) `?|`|\$[A-Z]+)((?:\.\.\.)?\/[a-z][\w/{}$%.-]*)/g)].map(
      ([, method, path = '']) => ({ page, method, path, parts: parts(path.replace(/\.+$/, '')) }),
    ),
  );

  it('that a page tells to call is one of the API', () => {
    const unknown = said.filter(
      ({ method, parts }) => method && !Object.keys(paths).some((path) => names(parts, path, true)),
    );
    expect(unknown.map(({ page, path }) => `${page}: ${path}`)).toEqual([]);
  });

  it.each(Object.keys(paths))('is described on a page: %s', (path) =>
    expect(said.filter(({ parts }) => names(parts, path))).not.toEqual([]),
  );
});

describe('the loop that waits for a document', () => {
  const loop = /^ready\(\) \{\n[^]*?^\}$/m.exec(readme)?.[0] ?? '';
  const until = (status: string): string => {
    const call = `call() { echo '{"id":"1","name":"a","status":"${status}","statusDetail":{"code":"unsupported_type"}}'; }`;
    return execFileSync(
      '/bin/sh',
      ['-c', `${status === 'none' ? 'call() { return 22; }' : call}\n${loop}\nready 1; echo "ended with $?"`],
      { encoding: 'utf8', timeout: 5_000 },
    );
  };

  it('ends when it is ready', () => expect(until('Ready')).toBe('ended with 0\n'));
  it('ends when it failed, and says why', () => expect(until('Failed')).toMatch(/unsupported_type.*\nended with 1\n$/));
  it('ends when nothing answers', () => expect(until('none')).toBe('ended with 1\n'));
  it.each(pages)('is the only one that waits for documents: %s', (page) =>
    expect(commandsOf(read(page))).not.toMatch(/until [^\n]*documents/),
  );
});

it('defines each word of the glossary once', () => {
  const words = [...read('docs/glossary.md').matchAll(/\*\*(.+?)\*\*/g)].map(([, word]) => word);
  expect(words.length).toBeGreaterThan(80);
  expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([]);
});

it('names the formats that are taken, by the code of those that are not', () => {
  expect(Object.keys(FAILURES)).toContain('unsupported_type');
  for (const said of ['`.md`', '`.markdown`', '`.txt`', '`text/markdown`', '`text/plain`', '`unsupported_type`'])
    expect(read('docs/knowledge.md')).toContain(said);
});

describe('the files for real models', () => {
  const files = [...configuration.matchAll(/^cat > models\.json <<'JSON'\n([^]*?)^JSON$/gm)].map(
    ([, text]) => text as string,
  );

  it('are of Ollama and vLLM, and OpenAI has one in config', () => {
    expect(files.map((text) => Object.keys((JSON.parse(text) as { providers: object }).providers))).toEqual([
      ['ollama'],
      ['vllm'],
      ['here'],
    ]);
    expect(configuration).toContain('OPENAI_API_KEY=sk-... MODELS_FILE=config/models.json npm start');
  });

  it.each(files.slice(0, 2))('open, with their model as the default: %#', async (text) => {
    const folder = mkdtempSync(join(tmpdir(), 'documentation-'));
    const file = join(folder, 'models.json');
    writeFileSync(file, text);
    const models = Models.open(readConfig({ MODELS_FILE: file, DATA_DIR: folder }), {});
    expect(models.catalogue.models.get(models.catalogue.defaultModel)).toMatchObject({ kind: 'chat', pricing: 'free' });
    await models.close();
    rmSync(folder, { recursive: true });
  });

  it('open with a sentence-transformer, where its package and its folder are there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'documentation-'));
    installDouble(folder);
    const model = writeFiles(join(folder, 'model'), sentenceTransformer({ hiddenSize: 384 }));
    const file = join(folder, 'models.json');
    writeFileSync(file, (files[2] as string).replace('./multilingual-e5-small', model));
    const models = Models.open(readConfig({ MODELS_FILE: file, DATA_DIR: folder }), {}, folder);
    expect(models.embedding().model).toMatchObject({ key: 'e5', dimensions: 384, queryPrefix: 'query: ' });
    await models.close();
    rmSync(folder, { recursive: true });
  });
});
