import type { Command } from 'commander';
import { EXIT, Failure } from '../exit-codes';
import type { PlatformClient } from '../platform-client';
import { viewsHelp } from '../names-help';
import { NONE } from '../output';
import { type Run, type Verb } from '../session';
import { allProjections, type ProjectionStatus, projectionPath, type RebuildStatus } from '../projections';

/** What can be asked of the versions of a view: the sentence that says it was done, and the state of the rebuild that it takes. */
const ACTIONS = {
  swap: {
    description: 'serve the rebuilt, verified version; keep the old one',
    said: (version: number) => `serves version ${version}`,
    from: 'ready',
  },
  rollback: {
    description: 'serve the earlier version again',
    said: (version: number) => `serves version ${version} again`,
    from: 'swapped',
  },
  retire: {
    description: 'drop the version that is no longer served',
    said: (version: number) => `keeps version ${version} only`,
    from: 'swapped',
  },
} as const;

const act =
  (action: keyof typeof ACTIONS): Verb<[name: string | undefined, { readonly all?: boolean }]> =>
  async ({ api, output }, name, { all = false }) => {
    if ((name === undefined) !== all) throw new Failure('Name one view, or use --all.', EXIT.wrongUsage);
    const names = name === undefined ? await namesIn(api, ACTIONS[action].from) : [name];
    if (names.length === 0) output.heading(NONE);
    for (const each of names) {
      const after = await api.json<ProjectionStatus>(`${projectionPath(each)}/${action}`, { method: 'POST' });
      output.result(after, ({ version }) => [`${each} ${ACTIONS[action].said(version)}.`]);
    }
  };

const namesIn = async (api: PlatformClient, state: RebuildStatus['state']): Promise<readonly string[]> =>
  (await allProjections(api)).filter(({ rebuild }) => rebuild?.state === state).map(({ name }) => name);

export const addVersionVerbs = (program: Command, run: Run): void => {
  for (const action of ['swap', 'rollback', 'retire'] as const) {
    program
      .command(`${action} [name]`)
      .description(ACTIONS[action].description)
      .option('--all', `every view whose rebuild is ${ACTIONS[action].from}`)
      .addHelpText('after', viewsHelp)
      .action(run(act(action)));
  }
};
