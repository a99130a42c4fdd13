import { type Command, InvalidArgumentError, Option } from 'commander';
import { NONE } from '../output';
import { time, TIMES } from '../periods';
import { type Run, type Verb } from '../session';

interface AuditEvent {
  readonly position: string;
  readonly ordinal: number | null;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly data: unknown;
  readonly meta: Readonly<Record<string, string>>;
  readonly recordedAt: string;
}

interface EventOptions {
  readonly stream?: string;
  readonly category?: string;
  readonly type?: string;
  readonly actor?: string;
  readonly correlationId?: string;
  readonly from?: string;
  readonly to?: string;
  readonly after?: string;
  readonly order?: string;
  readonly limit: number;
  readonly content?: boolean;
  readonly follow?: boolean;
}

const PATH = '/api/v1/audit/events';
const MOST_IN_A_PAGE = 100;
const RESTORED =
  'The log was restored from an older backup: some of the events above may be lost, and others may stand in their place. List them again.';
/** Most characters of an event's data on a line for people. */
const LINE = 300;

/** The newest events first, or with `--follow` every event from now on as it is recorded. */
const events: Verb<[EventOptions]> = async ({ api, output }, { follow = false, limit, ...query }) => {
  const print = (event: AuditEvent): void => output.result(event, eventLines);
  if (follow) {
    for await (const { event, data } of api.events(PATH, { query: { ...query, follow } }))
      if (event === 'restored') output.note(RESTORED);
      else print(JSON.parse(data) as AuditEvent);
    return;
  }
  let left = limit;
  for await (const event of api.list<AuditEvent>(PATH, { ...query, limit: Math.min(limit, MOST_IN_A_PAGE) })) {
    print(event);
    left -= 1;
    if (left === 0) return;
  }
  if (left === limit) output.heading(NONE);
};

const eventLines = ({ recordedAt, stream, revision, type, meta, data }: AuditEvent): readonly string[] => [
  `${recordedAt}  ${type}  ${stream}@${revision}  ${meta['actor'] ?? '-'}`,
  `    ${shortened(JSON.stringify(data))}`,
];

/** The whole of it is printed with `--json`. */
const shortened = (text: string): string => (text.length > LINE ? `${text.slice(0, LINE)}...` : text);

const positive = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('must be a whole number above 0.');
  return value;
};

export const addEventVerbs = (program: Command, run: Run): void => {
  program
    .command('events')
    .description('list the events of the log, newest first')
    .option('--stream <stream>', 'only this stream, such as agent-ID')
    .option('--category <category>', 'only streams of this category, such as agent')
    .option('--type <type>', 'only this type')
    .option('--actor <actor>', 'only by this actor, such as user:ID')
    .option('--correlation-id <id>', 'only events that one request caused')
    .option('--from <time>', 'recorded at or after this time', time)
    .option('--to <time>', 'recorded at or before this time', time)
    .option('--after <position>', 'after this position, in the given order')
    .addOption(new Option('--order <order>', 'by position').choices(['asc', 'desc']))
    .option('--limit <count>', 'at most this many', positive, 50)
    .option('--content', 'decrypt content (needs audit:content; the access is recorded)')
    .option('--follow', 'keep printing new events')
    .addHelpText('after', `\n${TIMES}`)
    .action(run(events));
};
