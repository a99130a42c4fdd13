import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventCatalogue } from './aggregates';

const RELEASES = join(__dirname, '../../../test/fixtures/releases');
const META = {
  $correlationId: 'a',
  $causationId: 'a',
  commandId: 'a',
  actor: 'user:1',
  schema: '1',
  recordedAt: '2026-01-01T00:00:00.000Z',
};
const stream = 'agent-01990000-0000-7000-8000-000000000001';

/** The lines of a release's export that are events. */
const exported = (release: string): { readonly stream: string; readonly type: string; readonly metadata: string }[] =>
  execFileSync('tar', ['-xzOf', join(RELEASES, release, 'export.tar.gz'), 'export/log.jsonl'], {
    maxBuffer: 1 << 28,
    encoding: 'utf8',
  })
    .trimEnd()
    .split('\n')
    .filter((line) => line.startsWith('{"stream":'))
    .map((line) => JSON.parse(line) as { stream: string; type: string; metadata: string });

const isOurs = (metadata: unknown, inStream = stream): boolean =>
  eventCatalogue.isOurs({
    stream: inStream,
    metadata: typeof metadata === 'string' ? metadata : JSON.stringify(metadata),
  });
const without = (name: keyof typeof META): object =>
  Object.fromEntries(Object.entries(META).filter(([key]) => key !== name));

describe('whose an event is', () => {
  it.each(readdirSync(RELEASES).filter((name) => /^\d/.test(name)))(
    'is ours for every event that release %s wrote',
    (release) => {
      const events = exported(release);
      expect(events.filter((event) => !eventCatalogue.isOurs(event))).toEqual([]);
      expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(30);
    },
  );

  it.each([
    ['as this version writes them', META],
    ['in another order', Object.fromEntries(Object.entries(META).toReversed())],
    ['with all that a command may carry', { ...META, commandHash: 'h', onBehalfOf: 'user:1', requestId: 'r' }],
    ['with what a later version adds', { ...META, tenant: 'x' }],
    ['with blanks between', JSON.stringify(META, undefined, 2)],
  ])('is ours with our metadata %s', (_name, metadata) => expect(isOurs(metadata)).toBe(true));

  it.each([
    ['none', ''],
    ['an empty object', '{}'],
    ['no JSON', 'commandId=1'],
    ['a list', [META]],
    ['null', 'null'],
    ['a text', '"commandId"'],
    ['what is no text', '\u{fffd}\u{fffd}\0"commandId"'],
    ['ours and something that is no text', { ...META, tries: 3 }],
    ['ours with a name that is no text', { ...META, actor: { user: 1 } }],
    ['the same names deep inside', { $meta: META }],
    [
      'names of a prototype',
      '{"__proto__":{"$correlationId":"","$causationId":"","commandId":"","actor":"","schema":"","recordedAt":""}}',
    ],
    ['ten thousand levels', `{"commandId":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
    ['a megabyte', { ...META, more: 'x'.repeat(1_000_000) }],
    ...(Object.keys(META) as (keyof typeof META)[]).map((name): [string, object] => [`all but ${name}`, without(name)]),
  ])('is not ours with metadata that are %s', (_name, metadata) => expect(isOurs(metadata)).toBe(false));

  it.each([
    'orders-1',
    'agents-1',
    'agent',
    '-agent',
    '',
    '$ce-agent',
    '$$agent-1',
    'Agent-1',
    ' agent-1',
    'constructor-1',
  ])('is not ours in a stream "%s"', (name) => expect(isOurs(META, name)).toBe(false));
});

it('every category that the code names is known', () => {
  const libs = join(__dirname, '../..');
  const sources = readdirSync(libs, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/\.(spec|long-spec|contract)\.ts$/.test(file),
  );
  const categories = sources.flatMap((file) =>
    [...readFileSync(join(libs, file), 'utf8').matchAll(/\bcategory: '(\w+)'/g)].map(([, name]) => name),
  );
  expect(categories.length).toBeGreaterThan(20);
  expect(categories.filter((name) => !isOurs(META, `${name}-1`))).toEqual([]);
});
