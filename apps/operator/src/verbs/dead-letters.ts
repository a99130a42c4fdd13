import type { Command } from 'commander';
import { EXIT } from '../exit-codes';
import { table } from '../output';
import { run, type Verb } from '../session';
import { OPERATIONS } from '../projections';

interface DeadLetter {
  readonly id: string;
  readonly projection: string;
  readonly stream: string;
  readonly position: string;
  readonly type: string;
  readonly reason: string;
  readonly detail: string;
  readonly attempts: number;
  /** Later events of the stream that wait behind it. */
  readonly waiting: number;
  readonly at: string;
}

const path = (id: string): string => `${OPERATIONS}/dead-letters/${encodeURIComponent(id)}`;

/** Ends with `EXIT.foundWrong` when there are any. */
const list: Verb<[]> = async ({ api, output }) => {
  const letters: DeadLetter[] = [];
  for await (const letter of api.list<DeadLetter>(`${OPERATIONS}/dead-letters`)) letters.push(letter);
  output.result(letters, (items) =>
    table(items, {
      id: ({ id }) => id,
      projection: ({ projection }) => projection,
      stream: ({ stream }) => stream,
      type: ({ type }) => type,
      reason: ({ reason }) => reason,
      attempts: ({ attempts }) => attempts,
      waiting: ({ waiting }) => waiting,
    }),
  );
  return letters.length === 0 ? EXIT.done : EXIT.foundWrong;
};

const show: Verb<[id: string]> = async ({ api, output }, id) =>
  output.result(await api.json<DeadLetter>(path(id)), (letter) => table(Object.entries(letter), { field: ([name]) => name, value: ([, value]) => String(value) }));

const settle = (action: 'retry' | 'discard', said: string): Verb<[id: string]> => async ({ api, output }, id) => {
  const after = await api.json<unknown>(`${path(id)}/${action}`, { method: 'POST' });
  output.result(after ?? { id, [action]: true }, () => [`${id} ${said}.`]);
};

export const addDeadLetterVerbs = (program: Command): void => {
  const letters = program.command('dead-letters').description('events that a view could not take, with those waiting behind them').action(run(list));
  letters.command('show <id>').description('where the event is and why it failed; no content').action(run(show));
  letters.command('retry <id>').description('hand the event to its view again, then those behind it').action(run(settle('retry', 'was handed to its view again')));
  letters.command('discard <id>').description('leave the event out of its view for good, and go on behind it').action(run(settle('discard', 'was left out of its view')));
};
