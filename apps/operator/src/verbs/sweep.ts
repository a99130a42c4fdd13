import type { Command } from 'commander';
import { count, counted } from '../output';
import { OPERATIONS } from '../projections';
import { type Run, type Verb } from '../session';

interface Swept {
  readonly blobs: number;
  readonly removed: number;
}

const sweep: Verb<[]> = async ({ api, output }) =>
  output.result(await api.json<Swept>(`${OPERATIONS}/blobs/sweep`, { method: 'POST' }), ({ blobs, removed }) => [
    `Checked ${counted(blobs, 'file')}, removed ${count(removed)} that no event names.`,
  ]);

export const addSweepVerb = (program: Command, run: Run): void => {
  program
    .command('sweep')
    .description('remove files that no event names and that are older than a day')
    .action(run(sweep));
};
