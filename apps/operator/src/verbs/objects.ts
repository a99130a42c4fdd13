import type { Command } from 'commander';
import { NONE, table } from '../output';
import { timeOrPosition, TIMES } from '../periods';
import { kindsHelp } from '../names-help';
import { type Run, type Verb } from '../session';

interface HistoryItem {
  readonly position: string;
  readonly at: string;
  readonly actor: string;
  readonly type: string;
  readonly changes: readonly { readonly path: string; readonly before: unknown; readonly after: unknown }[];
}

const objectPath = (kind: string, id: string): string =>
  `/api/v1/audit/objects/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;

const history: Verb<[kind: string, id: string]> = async ({ api, output }, kind, id) => {
  let shownItems = 0;
  for await (const item of api.list<HistoryItem>(`${objectPath(kind, id)}/history`)) {
    output.result(item, historyLines);
    shownItems += 1;
  }
  if (shownItems === 0) output.heading(NONE);
};

const asOf: Verb<[kind: string, id: string, at: string]> = async ({ api, output }, kind, id, at) =>
  output.result(await api.json<Record<string, unknown>>(objectPath(kind, id), { query: { at } }), (state, width) =>
    table(Object.entries(state), { field: ([name]) => name, value: ([, value]) => shown(value) }, width),
  );

const historyLines = ({ at, type, actor, position, changes }: HistoryItem): readonly string[] => [
  `${at}  ${type}  ${actor}  (position ${position})`,
  ...changes.map(({ path, before, after }) => `    ${path}: ${shown(before)} -> ${shown(after)}`),
];

const shown = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
};

export const addObjectVerbs = (program: Command, run: Run): void => {
  program
    .command('history <kind> <id>')
    .description('show what each event changed in an object, such as: history agent ID')
    .addHelpText('after', kindsHelp)
    .action(run(history));
  program
    .command('as-of')
    .argument('<kind>')
    .argument('<id>')
    .argument('<time|position>', undefined, timeOrPosition)
    .description('show an object as it was at a time or position')
    .addHelpText('after', () => `${kindsHelp()}\n${TIMES}`)
    .action(run(asOf));
};
