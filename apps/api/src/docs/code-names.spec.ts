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

interface Retired {
  readonly name: RegExp;
  /** What took its place. */
  readonly now: string;
  /** How comments say it, where that is not plain English too. */
  readonly comment?: RegExp;
  /** The folders where it had this meaning; everywhere by default. */
  readonly within?: RegExp;
}

/** Names that gave way to those of the field or of the glossary. */
const RETIRED: readonly Retired[] = [
  { name: /^bell|ringing/i, now: 'WakeSignal', comment: /\bbells?\b|\bringing\b/i },
  { name: /companion/i, now: 'SliceFollower', comment: /companion/i },
  { name: /changeBoard/i, now: 'SharedVersionCounters', comment: /change ?board/i },
  { name: /^board$/i, now: 'SharedVersionCounters', within: /^libs\/read-store/ },
  { name: /heldCall/i, now: 'reservation', comment: /held calls?\b/i },
  { name: /patien|insistent/i, now: 'retry, timeout', comment: /patien|insistent/i },
  // A refusal is a part of the chat-completions format.
  { name: /refus(?!al$)/i, now: 'reject', comment: /refus(?!als?\b)/i },
  { name: /^(?:is)?standing$/i, now: 'state' },
  { name: /^demand(?!s?$)/i, now: 'assert' },
  { name: /leaseShare/i, now: 'LeaseMember', comment: /lease ?share/i },
  { name: /^(?:un)?share$/, now: 'LeaseMember, join, leave', within: /^libs\/(?:coordination|projecting|hosting)/ },
  { name: /^recently$/i, now: 'TtlCache' },
  { name: /strangers?(?![a-z])/i, now: 'foreign event', comment: /strangers?\b/i },
  { name: /asker/i, now: 'Requester', comment: /\baskers?\b/i },
  { name: /away$/i, now: 'isUnavailable, outage' },
  { name: /^Room$/, now: 'FairSemaphore' },
  { name: /^spare/i, now: 'IdlePool' },
  { name: /^hurry/, now: 'deliverNow, wakeNow' },
  { name: /untold|tellings/i, now: 'isPrivate, PrivateStreams, IntegrationMapping' },
  { name: /^party$/i, now: 'Participants' },
  { name: /^(?:lapsing|lapse)$|lapsed$|ToLapse$/i, now: 'ProposalExpiry, expire' },
  { name: /^legs?$|textLeg/i, now: 'TextSearch, ranking', comment: /\blegs?\b/i },
  { name: /^Beside$|^embeddedBeside$/, now: 'StandbyPassages' },
  {
    name: /^(?:Giving|LookedAt|Former\w*|Told|Behind|Taking)$/,
    now: 'GrantContext, ShownRange, Legacy or Previous and so on',
  },
  { name: /^givingWay$/i, now: 'timeSliced' },
  { name: /^again$/, now: 'retryLostRaces', within: /^libs\/kernel\/src\/(?:race|decisions)/ },
  { name: /wayOf(?=[A-Z])/i, now: 'TransactionOptions' },
];

/** What a file declares: methods, accessors, and parameters and properties with a type, too. */
const DECLARED = [
  /\b(?:const|let|class|function|interface|type|readonly|private|static|async|get|set) (?:\* ?)?(\w+)/g,
  /^ {2,4}\*?(\w+)(?:<[^(\n]*>)?\((?:\n|[^\n]*\)(?:: [^\n]+)? \{$|[^\n]*\): [^\n]+;$)/gm,
  /[\s(,](\w+)\??: /g,
];

it.each(RETIRED)('no name of code, and no comment, is $name: it is $now now', ({ name, comment, within = /./ }) => {
  const files = ['apps', 'libs', 'projections']
    .flatMap((folder) => filesOf(folder, /\.ts$/))
    // Lists of words of languages.
    .filter((file) => within.test(file) && !/[.-]spec\.ts$|^libs\/screening\//.test(file));
  const found = files.flatMap((file) => {
    const text = read(file);
    const code = text.replaceAll(COMMENT, '');
    const declared = new Set(DECLARED.flatMap((kind) => [...code.matchAll(kind)].map(([, each = '']) => each)));
    const comments = (text.match(COMMENT) ?? []).filter((each) => comment?.test(each) === true);
    return [...declared, ...comments]
      .filter((each) => comments.includes(each) || name.test(each))
      .map((each) => `${file}: ${each}`);
  });
  expect([files.length > 0, found]).toEqual([true, []]);
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
