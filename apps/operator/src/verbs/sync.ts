import { createHash } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { EXIT, type ExitCode, Failure, Unreadable } from '../exit-codes';
import { type FolderFile, filesOf, withOpened } from '../folder-files';
import { counted } from '../output';
import { retryRejected } from '../retry-rejected';
import { LONG_WORK_MS } from '../periods';
import { type PlatformClient, Rejected } from '../platform-client';
import { type Run, type Verb } from '../session';
import type { NotSent } from '../synced-names';

/** Loaded where it is needed: it brings the rules of Knowledge with it. */
const names = () => require('../synced-names') as typeof import('../synced-names');

interface SyncOptions {
  readonly agent: string;
  readonly source: string;
  readonly confirmDeletions?: boolean;
  /** The code of the deletions that an earlier run withheld. */
  readonly confirm?: string;
  readonly dryRun?: boolean;
}

interface Plan {
  readonly upload: readonly string[];
  readonly replace: readonly string[];
  readonly vanished: readonly string[];
  readonly withheld: readonly string[];
}

/** What `sync` answers with `--json`. */
export interface Synced {
  readonly dryRun: boolean;
  readonly uploaded: readonly string[];
  readonly replaced: readonly string[];
  readonly unchanged: number;
  readonly deleted: readonly string[];
  readonly withheld: readonly string[];
  /** What confirms the deletions that are withheld, and no others; null where none is. */
  readonly confirmation: string | null;
  /** Links and files whose names the platform does not take. */
  readonly skipped: readonly string[];
  readonly failed: readonly NotSent[];
}

/** How often it is asked whether a document is Ready, milliseconds. */
const ASKED_EVERY_MS = 200;

const sync: Verb<[folder: string, SyncOptions]> = async (
  { api, output },
  folder,
  { agent, source, confirmDeletions = false, confirm, dryRun = false },
): Promise<ExitCode> => {
  const { root, files: found, skipped } = await filesOf(folder);
  const { files, failed } = names().namedWell(found);
  if (files.length === 0 && !confirmDeletions && confirm === undefined)
    throw new Failure(
      `${folder} has no files. To delete all documents of the source, add --confirm-deletions.`,
      EXIT.wrongUsage,
    );
  const at = `/api/v1/core/knowledge/${encodeURIComponent(agent)}/sources/${source}`;
  const listed = files.map(({ path, contentHash }) => ({ path, contentHash }));
  const compare = (body: { readonly confirmDeletions: boolean | readonly string[]; readonly dryRun: boolean }) =>
    retryRejected(() =>
      api.json<Plan>(`${at}/sync`, { method: 'POST', body: { files: listed, ...body }, withinMs: LONG_WORK_MS }),
    );
  const plan = confirmedBy(confirmDeletions ? undefined : confirm, await compare({ confirmDeletions, dryRun: true }));
  const sent = new Set<string>();
  const waiting: string[] = [];
  const due = new Set([...plan.upload, ...plan.replace]);
  for (const file of dryRun ? [] : files.filter(({ path }) => due.has(path))) {
    output.progress(`Sending file ${sent.size + failed.length + 1} of ${due.size}: ${file.path}`);
    try {
      waiting.push(await retryRejected(() => send(api, at, root, file)));
      sent.add(file.path);
    } catch (error) {
      // One that is rejected holds up no other, nor does one that is gone or is written to meanwhile.
      const code = codeOfNotSent(error);
      if (!(error instanceof Failure) || code === undefined) throw error;
      failed.push({ path: file.path, code, message: error.message });
    }
  }
  // Deletions come last: a file that was renamed is found under one of its names all the while.
  let { vanished, withheld } = plan;
  if (!dryRun && vanished.length > 0) {
    await processed(api, agent, waiting, output);
    // Those of the first comparison alone: what another sent meanwhile is not in the list of this folder.
    ({ vanished, withheld } = await compare({ confirmDeletions: plan.vanished, dryRun: false }));
  }
  output.progressDone();
  const isDone = (path: string): boolean => dryRun || sent.has(path);
  const synced: Synced = {
    dryRun,
    uploaded: plan.upload.filter(isDone),
    replaced: plan.replace.filter(isDone),
    unchanged: files.length - due.size,
    deleted: vanished,
    withheld,
    confirmation: withheld.length === 0 ? null : codeOf(withheld),
    skipped,
    failed,
  };
  output.result(synced, lines);
  if (failed.length > 0) return EXIT.failed;
  return withheld.length > 0 ? EXIT.foundWrong : EXIT.done;
};

/** What a code stands for is confirmed. Under the code of others nothing is, however few they are. */
const confirmedBy = (code: string | undefined, plan: Plan): Plan => {
  if (code === undefined) return plan;
  const gone = [...plan.vanished, ...plan.withheld];
  return code === codeOf(gone) ? { ...plan, vanished: gone, withheld: [] } : { ...plan, vanished: [], withheld: gone };
};

/** Tells lists of paths apart, in whichever order. */
const codeOf = (paths: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(paths.toSorted())).digest('hex').slice(0, 12);

/** Waits for documents that were sent to be Ready, or to have failed. Ingestion goes on by itself where it takes too long. */
const processed = async (
  api: PlatformClient,
  agent: string,
  documentIds: readonly string[],
  output: Parameters<typeof sync>[0]['output'],
): Promise<void> => {
  const until = performance.now() + LONG_WORK_MS;
  for (const [done, id] of documentIds.entries()) {
    output.progress(`Waiting until document ${done + 1} of ${documentIds.length} is found`);
    const path = `/api/v1/core/knowledge/${encodeURIComponent(agent)}/documents/${id}`;
    while (performance.now() < until) {
      const { status } = await retryRejected(() => api.json<{ status: string }>(path));
      if (status === 'Ready' || status === 'Failed') break;
      await pause(ASKED_EVERY_MS);
    }
  }
};

const send = (api: PlatformClient, at: string, root: string, { path, file }: FolderFile): Promise<string> =>
  withOpened(root, file, async (_, opened) => {
    const form = new FormData();
    form.set('path', path);
    form.set('file', await openAsBlob(opened), basename(path));
    const { id } = await api.json<{ id: string }>(`${at}/files`, {
      method: 'POST',
      body: form,
      withinMs: LONG_WORK_MS,
    });
    return id;
  });

const codeOfNotSent = (error: unknown): string | undefined => {
  if (error instanceof Unreadable) return 'unreadable';
  return error instanceof Rejected && error.status < 500 ? error.code : undefined;
};

const lines = ({
  dryRun,
  uploaded,
  replaced,
  unchanged,
  deleted,
  withheld,
  confirmation,
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
        `${counted(withheld.length, 'document has lost its file', 'documents have lost their files')}, and none of these was deleted: too many, or different from those you confirmed. If this is right, run it again with --confirm ${confirmation}.`,
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
    .requiredOption('--agent <id>', 'the Agent whose documents they are (required)')
    .requiredOption('--source <id>', 'a name for the folder, always the same (required)', sourceId)
    .option('--confirm-deletions', 'delete documents even if many files are gone, whichever they are by then')
    .option(
      '--confirm <code>',
      'delete the documents that an earlier run withheld and showed with this code, if no others are withheld by now',
    )
    .option('--dry-run', 'only show what would be done')
    .addHelpText('after', '\nHidden files and links are left out. Exit code 3: deletions wait to be confirmed.')
    .action(run(sync));
};
