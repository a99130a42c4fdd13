import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { EXIT, type ExitCode, Failure } from '../exit-codes';
import { type FolderFile, filesOf } from '../folder-files';
import { LONG_WORK_MS } from '../periods';
import { type PlatformClient, Rejected } from '../platform-client';
import { type Run, type Verb } from '../session';

interface SyncOptions {
  readonly agent: string;
  readonly source: string;
  readonly confirmDeletions?: boolean;
  readonly dryRun?: boolean;
}

interface Plan {
  readonly upload: readonly string[];
  readonly replace: readonly string[];
  readonly vanished: readonly string[];
  readonly withheld: readonly string[];
}

interface Synced {
  readonly dryRun: boolean;
  readonly uploaded: readonly string[];
  readonly replaced: readonly string[];
  readonly unchanged: number;
  readonly deleted: readonly string[];
  readonly withheld: readonly string[];
  /** Links and files whose names the platform does not take. */
  readonly skipped: readonly string[];
  readonly failed: readonly { readonly path: string; readonly code: string; readonly message: string }[];
}

const sync: Verb<[folder: string, SyncOptions]> = async (
  { api, output },
  folder,
  { agent, source, confirmDeletions = false, dryRun = false },
): Promise<ExitCode> => {
  const { files, skipped } = await filesOf(folder);
  if (files.length === 0 && !confirmDeletions)
    throw new Failure(
      `${folder} has no files. To delete all documents of the source, add --confirm-deletions.`,
      EXIT.wrongUsage,
    );
  const at = `/api/v1/core/knowledge/${encodeURIComponent(agent)}/sources/${source}`;
  const listed = files.map(({ path, contentHash }) => ({ path, contentHash }));
  const plan = await patient(() =>
    api.json<Plan>(`${at}/sync`, {
      method: 'POST',
      body: { files: listed, confirmDeletions, dryRun },
      withinMs: LONG_WORK_MS,
    }),
  );
  const failed: Synced['failed'][number][] = [];
  const sent = new Set<string>();
  const due = new Set([...plan.upload, ...plan.replace]);
  for (const file of dryRun ? [] : files.filter(({ path }) => due.has(path))) {
    output.progress(`Sending file ${sent.size + failed.length + 1} of ${due.size}: ${file.path}`);
    try {
      await patient(() => send(api, at, file));
      sent.add(file.path);
    } catch (error) {
      // One that is rejected holds up no other.
      if (!(error instanceof Rejected) || error.status >= 500) throw error;
      failed.push({ path: file.path, code: error.code, message: error.message });
    }
  }
  output.progressDone();
  const isDone = (path: string): boolean => dryRun || sent.has(path);
  const synced: Synced = {
    dryRun,
    uploaded: plan.upload.filter(isDone),
    replaced: plan.replace.filter(isDone),
    unchanged: files.length - due.size,
    deleted: plan.vanished,
    withheld: plan.withheld,
    skipped,
    failed,
  };
  output.result(synced, lines);
  if (failed.length > 0) return EXIT.failed;
  return plan.withheld.length > 0 ? EXIT.foundWrong : EXIT.done;
};

const send = async (api: PlatformClient, at: string, { path, file }: FolderFile): Promise<void> => {
  const form = new FormData();
  form.set('path', path);
  form.set('file', await openAsBlob(file), basename(path));
  await api.json(`${at}/files`, { method: 'POST', body: form, withinMs: LONG_WORK_MS });
};

/** Waits where requests come too fast, as often as it takes. */
const patient = async <T>(ask: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Rejected) || error.code !== 'rate_limited') throw error;
      await pause(1_000 * Math.min(60, Number(error.facts['retryAfterSeconds'] ?? 5) || 5));
    }
  }
};

const lines = ({
  dryRun,
  uploaded,
  replaced,
  unchanged,
  deleted,
  withheld,
  skipped,
  failed,
}: Synced): readonly string[] => [
  ...uploaded.map((path) => `new       ${path}`),
  ...replaced.map((path) => `changed   ${path}`),
  ...deleted.map((path) => `deleted   ${path}`),
  ...withheld.map((path) => `withheld  ${path}`),
  ...skipped.map((path) => `skipped   ${path}`),
  ...failed.map(({ path, message }) => `failed    ${path}: ${message}`),
  `${dryRun ? 'Would sync: ' : ''}${uploaded.length} new, ${replaced.length} changed, ${unchanged} unchanged, ${deleted.length} deleted, ${failed.length} failed.`,
  ...(withheld.length === 0
    ? []
    : [
        `${withheld.length} documents have lost their files. That is so many that none was deleted. If it is right, run this again with --confirm-deletions.`,
      ]),
];

const sourceId = (text: string): string => {
  if (/^[a-z0-9-]{1,64}$/.test(text)) return text;
  throw new InvalidArgumentError('must be 1 to 64 of a-z, 0-9 and -.');
};

export const addSyncVerb = (program: Command, run: Run): void => {
  program
    .command('sync <folder>')
    .description("keep an Agent's documents the same as the files of a folder; sends only what changed")
    .requiredOption('--agent <id>', 'the Agent whose documents they are')
    .requiredOption('--source <id>', 'a name for the folder, always the same', sourceId)
    .option('--confirm-deletions', 'delete documents also where many files are gone')
    .option('--dry-run', 'only show what would be done')
    .addHelpText('after', '\nHidden files and links are left out. Exit code 3: deletions wait to be confirmed.')
    .action(run(sync));
};
