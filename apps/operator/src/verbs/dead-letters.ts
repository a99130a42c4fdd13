import type { Command } from 'commander';
import { EXIT } from '../exit-codes';
import { table } from '../output';
import { type Run, type Verb } from '../session';
import { OPERATIONS } from '../projections';

interface DeadLetter {
  readonly id: string;
  readonly source: 'projection' | 'policy';
  /** Name of the projection or policy. */
  readonly name: string;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly reason: string;
  readonly detail: string;
  readonly attempts: number;
  readonly failedAt: string;
}

const path = (id: string): string => `${OPERATIONS}/dead-letters/${encodeURIComponent(id)}`;

/** Ends with `EXIT.foundWrong` if there are any. */
const list: Verb<[]> = async ({ api, output }) => {
  const letters: DeadLetter[] = [];
  for await (const letter of api.list<DeadLetter>(`${OPERATIONS}/dead-letters`)) letters.push(letter);
  output.result(letters, (items, width) =>
    table(
      items,
      {
        id: ({ id }) => id,
        at: ({ source, name }) => `${source} ${name}`,
        event: ({ stream, revision }) => `${stream}@${revision}`,
        type: ({ type }) => type,
        reason: ({ reason }) => reason,
        attempts: ({ attempts }) => attempts,
        failed: ({ failedAt }) => failedAt,
      },
      width,
    ),
  );
  return letters.length === 0 ? EXIT.done : EXIT.foundWrong;
};

const show: Verb<[id: string]> = async ({ api, output }, id) =>
  output.result(await api.json<DeadLetter>(path(id)), (letter, width) =>
    table(Object.entries(letter), { field: ([name]) => name, value: ([, value]) => String(value) }, width),
  );

/** Ends with `EXIT.foundWrong` when the stream of the event still waits. */
const solve =
  (action: 'retry' | 'discard', said: string): Verb<[id: string]> =>
  async ({ api, output }, id) => {
    const { left } = await api.json<{ left: DeadLetter | null }>(`${path(id)}/${action}`, { method: 'POST' });
    output.result({ id, left }, () => [
      left === null
        ? `${said}. Its stream continues.`
        : `${left.stream} still waits at revision ${left.revision}: ${left.reason} ${left.detail}`,
    ]);
    return left === null ? EXIT.done : EXIT.foundWrong;
  };

export const addDeadLetterVerbs = (program: Command, run: Run): void => {
  const letters = program
    .command('dead-letters')
    .description('list events that a view or policy could not handle; later events of their streams wait')
    .action(run(list));
  letters
    .command('show <id>')
    .description('show where the event is and why it failed, without content')
    .action(run(show));
  letters
    .command('retry <id>')
    .description('handle the event again, then those that wait behind it')
    .action(run(solve('retry', 'Event handled')));
  letters
    .command('discard <id>')
    .description('skip the event for good, and handle those that wait behind it')
    .action(run(solve('discard', 'Event skipped')));
};
