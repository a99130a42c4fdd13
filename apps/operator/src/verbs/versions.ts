import type { Command } from 'commander';
import { type Run, type Verb } from '../session';
import { type ProjectionStatus, projectionPath } from '../projections';

/** What can be asked of the versions of a view, with the sentence that says it was done. */
const ACTIONS = {
  swap: { description: 'serve the rebuilt and verified version; the old one is kept', said: 'serves' },
  rollback: { description: 'serve the version before again', said: 'serves again' },
  retire: { description: 'drop the version that is no longer served', said: 'keeps only' },
} as const;

const act = (action: keyof typeof ACTIONS): Verb<[name: string]> => async ({ api, output }, name) => {
  const after = await api.json<ProjectionStatus>(`${projectionPath(name)}/${action}`, { method: 'POST' });
  output.result(after, ({ version }) => [`${name} ${ACTIONS[action].said} version ${version}.`]);
};

export const addVersionVerbs = (program: Command, run: Run): void => {
  for (const action of ['swap', 'rollback', 'retire'] as const) program.command(`${action} <name>`).description(ACTIONS[action].description).action(run(act(action)));
};
