import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names of code that documentation and comments say between backticks: after a change of name they would be looked for in vain. */
const root = join(__dirname, '../../../..');
const filesOf = (folder: string, kind: RegExp): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => kind.test(file))
    .map((file) => join(folder, file));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const COMMENT = /\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm;
const sources = ['apps', 'libs', 'projections', 'test'].flatMap((folder) => filesOf(folder, /\.(?:ts|cjs|sh|proto)$/));
const words = new Set(
  [
    ...sources.map((file) => read(file).replaceAll(COMMENT, '')),
    read('package.json'),
    read('docs/openapi.json'),
  ].flatMap((text) => text.match(/\w+/g) ?? []),
);

/** What is written as names of code are, and is not ours. */
const OF_OTHERS = new Set(
  [
    'AbortMultipartUpload CreateBucket DeleteObject GetObject HeadBucket ListBucket ListBucketMultipartUploads PutObject',
    // Of Nest, Node, TypeScript, MongoDB and EventStoreDB.
    'CheckCommit EventBus FactoryProvider importScripts IndexWriter noCheck toDate',
    // Examples of what the screening reads and clients send.
    'maxTokenCount sendAllData toModelOutput WIDTHxHEIGHT',
  ].flatMap((names) => names.split(' ')),
);

const unknownIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)]
    .flatMap(([, code = '']) => code.match(/\w+/g) ?? [])
    .filter((word) => /[a-z][A-Z]/.test(word) && !words.has(word) && !OF_OTHERS.has(word));

it.each(['docs/architecture.md', 'docs/contributing.md', ...filesOf('docs/decisions', /\.md$/)])(
  'a name of code is one of the sources: %s',
  (page) => expect(unknownIn(read(page))).toEqual([]),
);

it('a name of code in a comment is one of the sources', () => {
  const stale = filesOf('libs', /\.ts$/)
    .concat(filesOf('apps', /\.ts$/), filesOf('projections', /\.ts$/))
    .map((file) => [file, ...(read(file).match(COMMENT) ?? []).flatMap(unknownIn)]);
  expect(stale.length).toBeGreaterThan(1000);
  expect(stale.filter(([, ...names]) => names.length > 0)).toEqual([]);
});

/** Names that gave way to those of the field or of the glossary, with what took their place. */
const RETIRED: readonly (readonly [name: RegExp, now: string])[] = [
  [/^bell|ringing/i, 'WakeSignal'],
  [/companion/i, 'SliceFollower'],
  [/changeBoard/i, 'SharedVersionCounters'],
  [/heldCall/i, 'reservation'],
  [/patiently|insistently/i, 'retry'],
  [/^(?:is)?standing$/i, 'state'],
  [/^demand(?!s?$)/i, 'assert'],
  [/leaseShare/i, 'LeaseMember'],
  [/^recently$/i, 'TtlCache'],
  [/strangers?(?![a-z])/i, 'foreign event'],
  [/asker/i, 'Requester'],
  [/away$/i, 'isUnavailable, outage'],
  [/^Room$/, 'FairSemaphore'],
  [/^spare/i, 'IdlePool'],
];

it.each(RETIRED)('no name of code is %s: it is %s now', (retired) => {
  const files = ['apps', 'libs', 'projections']
    .flatMap((folder) => filesOf(folder, /\.ts$/))
    // Lists of words of languages.
    .filter((file) => !/[.-]spec\.ts$|^libs\/screening\//.test(file));
  const declared = files.flatMap((file) =>
    [...read(file).matchAll(/\b(?:const|let|class|function|interface|type|readonly|private) (\w+)/g)]
      .filter(([, name = '']) => retired.test(name))
      .map(([declaration]) => `${file}: ${declaration}`),
  );
  expect(declared).toEqual([]);
});

it('what is cast past the compiler says why, in a comment over it', () => {
  const isComment = (line: string): boolean => /^\s*(?:\/\/|\/?\*)/.test(line);
  const casts = ['apps', 'libs', 'projections']
    .flatMap((folder) => filesOf(folder, /(?<![.-]spec)\.ts$/))
    .flatMap((file) => {
      const lines = read(file).split('\n');
      const at = [...lines.keys()].filter((index) => /\bas (?:unknown as|never|any)\b/.test(lines[index] as string));
      // The longest expression that is cast takes eight lines.
      return at.map((index) => ({
        place: `${file}:${index + 1}`,
        isExplained: lines.slice(Math.max(0, index - 8), index + 1).some(isComment),
      }));
    });
  expect([casts.length > 0, casts.filter(({ isExplained }) => !isExplained)]).toEqual([true, []]);
});
