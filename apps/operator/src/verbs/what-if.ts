import { type Command, InvalidArgumentError, Option } from 'commander';
import { OPERATIONS } from '../projections';
import { counted, table } from '../output';
import { LONG_WORK_MS, time, TIMES } from '../periods';
import { type Run, type Verb } from '../session';

interface Affected {
  readonly calls: number;
  readonly cost: string;
  readonly firstAt: string | null;
}
type AffectedBy = Affected & { readonly key: string | null };

interface WhatIf {
  readonly from: string;
  readonly to: string;
  readonly currency: string;
  readonly outcome: 'refused' | 'warned';
  readonly calls: number;
  readonly cost: string;
  readonly affected: Affected;
  readonly saved: string;
  readonly users: readonly AffectedBy[];
  readonly apiKeys: readonly AffectedBy[];
  readonly models: readonly AffectedBy[];
}

interface WhatIfOptions {
  readonly from: string;
  readonly to?: string;
  readonly scope: { readonly type: string; readonly id?: string };
  readonly amount: string;
  readonly window: string;
  readonly timeZone?: string;
  readonly warn?: boolean;
  readonly includedAmount?: string;
}

const whatIf: Verb<[WhatIfOptions]> = async ({ api, output }, { from, to, warn, ...limit }) => {
  const body = { from, to, limit: { ...limit, action: warn === true ? 'warn' : 'block' } };
  output.result(
    await api.json<WhatIf>(`${OPERATIONS}/usage/what-if`, { method: 'POST', body, withinMs: LONG_WORK_MS }),
    lines,
  );
};

const lines = ({
  from,
  to,
  currency,
  outcome,
  calls,
  cost,
  affected,
  saved,
  users,
  apiKeys,
  models,
}: WhatIf): readonly string[] => {
  const summary = [`From ${from} to ${to} the limit covers ${counted(calls, 'call')}, which cost ${cost} ${currency}.`];
  if (affected.calls === 0) return [...summary, `None would have been ${outcome}.`];
  const told = `${affected.calls} would have been ${outcome}, the first at ${affected.firstAt}; ${saved} ${currency} would not have been spent.`;
  return [
    ...summary,
    told,
    '',
    ...groups('user', users),
    '',
    ...groups('API key', apiKeys),
    '',
    ...groups('model', models),
  ];
};

const groups = (name: string, rows: readonly AffectedBy[]): readonly string[] =>
  table(rows, {
    [name]: ({ key }) => key,
    calls: ({ calls }) => calls,
    cost: ({ cost }) => cost,
    first: ({ firstAt }) => firstAt,
  });

/** `user`, or `user:ID` for one alone. */
const scope = (text: string): WhatIfOptions['scope'] => {
  const [type = '', id] = text.split(':');
  if (!['instance', 'space', 'agent', 'user', 'apiKey'].includes(type))
    throw new InvalidArgumentError('must be instance, space, agent, user or apiKey, with :ID for one.');
  return id === undefined ? { type } : { type, id };
};

export const addWhatIfVerb = (program: Command, run: Run): void => {
  program
    .command('what-if')
    .description('show which calls of a period a limit would have rejected; writes nothing')
    .requiredOption('--from <time>', 'the limit is set at this time (required)', time)
    .option('--to <time>', 'calls that began before this time (default: now)', time)
    .requiredOption(
      '--scope <scope>',
      'instance, space, agent, user or apiKey: a limit for each, or for one with :ID (required)',
      scope,
    )
    .requiredOption('--amount <amount>', 'what may be spent in a window (required)')
    .addOption(
      new Option('--window <window>', 'the length of the window')
        .choices(['day', 'week', 'month', 'total'])
        .default('month'),
    )
    .option('--time-zone <zone>', 'time zone of the window (default: that of the instance)')
    .option('--warn', 'warn only, reject nothing')
    .option('--included-amount <amount>', 'the part of the limit that a subscription covers')
    .addHelpText('after', `\n${TIMES}`)
    .action(run(whatIf));
};
