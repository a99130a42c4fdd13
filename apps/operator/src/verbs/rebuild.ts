import type { Command } from 'commander';
import { EXIT, Failure } from '../exit-codes';
import type { PlatformClient } from '../platform-client';
import { allProjections, type ProjectionStatus, projectionPath } from '../projections';
import { startRebuild, watchRebuild } from '../rebuilds';
import { viewsHelp } from '../names-help';
import { NONE } from '../output';
import { type Run, type Verb } from '../session';

interface RebuildOptions {
  readonly all?: boolean;
  readonly swap?: boolean;
  readonly watch?: boolean;
}

const rebuild: Verb<[name: string | undefined, RebuildOptions]> = async (
  { api, output },
  name,
  { all = false, swap = false, watch = false },
) => {
  if ((name === undefined) !== all) throw new Failure('Name one view, or use --all.', EXIT.wrongUsage);
  const names = name === undefined ? await free(api) : [name];
  if (names.length === 0) output.heading(NONE);
  for (const each of names) {
    const started = await startRebuild(api, each, swap);
    if (!watch) output.result(started, ({ rebuild: build }) => [`${each}: building version ${build?.version ?? '?'}.`]);
  }
  if (!watch) return;
  for (const each of names) {
    const said = await watchRebuild(api, each, swap, output);
    output.result(await api.json<ProjectionStatus>(projectionPath(each)), () => [said]);
  }
};

/** Every view, none of which has a rebuild that was not ended: nothing is started otherwise. */
const free = async (api: PlatformClient): Promise<readonly string[]> => {
  const projections = await allProjections(api);
  const busy = projections.filter(({ rebuild: build }) => build !== undefined);
  if (busy.length > 0)
    throw new Failure(
      `These views already have a rebuild. Swap in or cancel what is ready, retire what is swapped, resume or cancel the rest: ${busy.map(({ name, rebuild: build }) => `${name} (${build?.state})`).join(', ')}.`,
    );
  return projections.map(({ name }) => name);
};

const steer =
  (action: 'pause' | 'resume' | 'cancel', said: string): Verb<[name: string]> =>
  async ({ api, output }, name) =>
    output.result(
      await api.json<ProjectionStatus>(`${projectionPath(name)}/rebuild/${action}`, { method: 'POST' }),
      () => [`The rebuild of ${name} ${said}.`],
    );

export const addRebuildVerbs = (program: Command, run: Run): void => {
  const verb = program
    .command('rebuild [name]')
    .description('rebuild a view from the log, beside the live version')
    .option('--all', 'every view')
    .option('--swap', 'swap the new version in once it is verified to be equal')
    .option('--watch', 'show progress until it is done')
    .addHelpText('after', viewsHelp)
    .action(run(rebuild));
  verb
    .command('pause <name>')
    .description('pause the rebuild; keep what was built')
    .action(run(steer('pause', 'is paused')));
  verb
    .command('resume <name>')
    .description('continue a paused or failed rebuild')
    .action(run(steer('resume', 'goes on')));
  verb
    .command('cancel <name>')
    .description('cancel the rebuild; drop what was built')
    .action(run(steer('cancel', 'was cancelled')));
};
