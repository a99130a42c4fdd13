import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXIT, Failure } from '../exit-codes';
import { OPERATIONS } from '../projections';
import { counted, table } from '../output';
import { type Run, type Verb } from '../session';
import { LONG_WORK_MS, time, TIMES } from '../periods';

interface Compared {
  readonly calls: number;
  readonly billed: string;
  readonly restated: string;
  readonly difference: string;
}

interface Restatement {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly currency: string;
  readonly startedAt: string;
  readonly totals: (Compared & { readonly kept: number }) | null;
  readonly models: readonly (Compared & { readonly key: string })[];
  readonly apiKeys: readonly (Compared & { readonly key: string | null })[];
}

interface RestateOptions {
  readonly from?: string;
  readonly to?: string;
  readonly at?: string;
  readonly price: Readonly<Record<string, string>>;
}

const PATH = `${OPERATIONS}/usage/restatements`;

const restate: Verb<[RestateOptions]> = async ({ api, output }, { from, to, at, price }) => {
  if (from === undefined)
    throw new Failure('Set the period: --from TIME, and --to TIME unless it ends now.', EXIT.wrongUsage);
  const named = Object.keys(price).length > 0;
  if (named && at !== undefined) throw new Failure('Use --at or --price, not both.', EXIT.wrongUsage);
  const prices = named ? price : at === undefined ? 'current' : { at };
  output.result(
    await api.json<Restatement>(PATH, { method: 'POST', body: { from, to, prices }, withinMs: LONG_WORK_MS }),
    restatementLines,
  );
};

const show: Verb<[id: string]> = async ({ api, output }, id) =>
  output.result(await api.json<Restatement>(`${PATH}/${encodeURIComponent(id)}`), restatementLines);

const list: Verb<[]> = async ({ api, output }) => {
  const found: Restatement[] = [];
  for await (const each of api.list<Restatement>(PATH)) found.push(each);
  output.result(found, (items, width) =>
    table(
      items,
      {
        id: ({ id }) => id,
        from: (each) => each.from,
        to: (each) => each.to,
        started: ({ startedAt }) => startedAt,
        calls: ({ totals }) => totals?.calls,
        difference: ({ totals }) => totals?.difference ?? 'not complete',
      },
      width,
    ),
  );
};

const restatementLines = ({ id, from, to, currency, totals, models, apiKeys }: Restatement): readonly string[] => {
  const period = `${id}: calls from ${from} to ${to}, in ${currency}.`;
  if (totals === null)
    return [period, 'The ledger is incomplete. Send the request that started it again, with its Idempotency-Key.'];
  const kept =
    totals.kept === 0
      ? []
      : [`${counted(totals.kept, 'call')} cost what was billed: there are no other prices for them.`];
  const all = { key: 'all', ...totals };
  return [period, '', ...compared('model', [...models, all]), '', ...compared('API key', [...apiKeys, all]), ...kept];
};

const compared = (name: string, rows: readonly (Compared & { readonly key: string | null })[]): readonly string[] =>
  table(rows, {
    [name]: ({ key }) => key,
    calls: ({ calls }) => calls,
    billed: ({ billed }) => billed,
    restated: ({ restated }) => restated,
    difference: ({ difference }) => difference,
  });

/** `MODEL=VERSION`; a model's key may hold equals signs, a version does not. */
const pricedModel = (text: string, given: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const end = text.lastIndexOf('=');
  if (end < 1) throw new InvalidArgumentError('must be MODEL=VERSION.');
  return { ...given, [text.slice(0, end)]: text.slice(end + 1) };
};

export const addRestateVerbs = (program: Command, run: Run): void => {
  const verb = program
    .command('restate')
    .description(
      'compute what calls would have cost under other prices, in a second ledger; what was billed does not change',
    )
    .option('--from <time>', 'calls that began at this time or later', time)
    .option('--to <time>', 'calls that began before this time (default: now)', time)
    .option('--at <time>', 'use the prices of this time (default: now)', time)
    .addOption(
      new Option('--price <model=version>', 'use this price version; repeat for several models')
        .argParser(pricedModel)
        .default({}, 'the prices of --at'),
    )
    .addHelpText('after', `\n${TIMES}`)
    .action(run(restate));
  verb.command('list').description('list restatements, newest first').action(run(list));
  verb.command('show <id>').description('show a restatement').action(run(show));
};
