import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@app/kernel';
import { Models } from '@app/models';
import { FAILURES } from '../../../../libs/knowledge/src/ingestion/ingestion-failure';

/** The README's commands, as far as they can be tried without a product; `.ci/run` and people run the rest. */
const readme = readFileSync(join(__dirname, '../../../../README.md'), 'utf8');
const commands = [...readme.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, text]) => text as string);

it('sets every variable before it uses it', () => {
  const set = new Set(['PATH', 'HOME']);
  const unset: string[] = [];
  for (const line of commands.join('\n').split('\n')) {
    for (const [, name = ''] of line.matchAll(/\$\{?([A-Z][A-Z_]+)\b/g))
      if (!set.has(name)) unset.push(`${name}: ${line}`);
    for (const [, name = ''] of line.matchAll(/(?:^|\s|;)([A-Z][A-Z_]+)=/g)) set.add(name);
  }
  expect(unset).toEqual([]);
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
  it('is the only one that waits for documents', () => expect(readme).not.toMatch(/until [^\n]*documents/));
});

it('names the formats that are taken, by the code of those that are not', () => {
  expect(Object.keys(FAILURES)).toContain('unsupported_type');
  for (const said of ['`.md`', '`.markdown`', '`.txt`', '`text/markdown`', '`text/plain`', '`unsupported_type`'])
    expect(readme).toContain(said);
});

describe('the files for real models', () => {
  const files = [...readme.matchAll(/^cat > models\.json <<'JSON'\n([^]*?)^JSON$/gm)].map(([, text]) => text as string);

  it('are of Ollama and vLLM, and OpenAI has one in config', () => {
    expect(files.map((text) => Object.keys((JSON.parse(text) as { providers: object }).providers))).toEqual([
      ['ollama'],
      ['vllm'],
    ]);
    expect(readme).toContain('OPENAI_API_KEY=sk-... MODELS_FILE=config/models.json npm start');
  });

  it.each(files)('open, with their model as the default: %#', async (text) => {
    const folder = mkdtempSync(join(tmpdir(), 'readme-'));
    const file = join(folder, 'models.json');
    writeFileSync(file, text);
    const models = Models.open(readConfig({ MODELS_FILE: file, DATA_DIR: folder }), {});
    expect(models.catalogue.models.get(models.catalogue.defaultModel)).toMatchObject({ kind: 'chat', pricing: 'free' });
    await models.close();
    rmSync(folder, { recursive: true });
  });
});
