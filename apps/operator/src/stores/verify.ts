import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BackupCheck, checkBackup, LOG_PATH } from '@app/backup';
import { openLogReader } from '@app/hosting';
import type { Config } from '@app/kernel';
import { type KnownSeal, parseKnownSeal, sealKeyOf, type Verification, verifyExport, verifyOpened } from '@app/sealing';
import { backupLines } from '../backup-check';
import { EXIT, type ExitCode, Failure } from '../exit-codes';
import { progressBar } from '../progress-bar';
import type { Session, Verb } from '../session';
import { assertExport } from './export-file';
import { assertLog, findInstanceKey, importedPublicKeys, orFailure, storesConfig, storesNamed } from './config';
import { exitCodeOf, shown, verificationLines, type VerifyGiven, verifyOnline } from '../verification';

// Opens the log alone, without Nest: an auditor verifies without the secrets and stores of the platform, a damaged log too.

/** What the command line gives. */
export interface VerifyOptions {
  readonly since?: string;
  readonly publicKey?: string;
  /** Of a backup: the file of keys that goes with it. */
  readonly keys?: string;
}

/** What is verified, printed first: no log must be taken for another. */
interface Subject {
  readonly kind: 'export' | 'server' | 'stores';
  readonly at: string;
  readonly verify: (given: VerifyGiven) => Promise<Verification>;
}

/** Ends with `EXIT.foundWrong` when anything is not as it was sealed, or backed up. */
export const verify: Verb<[file: string | undefined, VerifyOptions]> = async (
  session,
  file,
  { since, publicKey, keys },
) => {
  const given = { since: since === undefined ? undefined : knownSeal(since), publicKey };
  if (file !== undefined && session.server?.isOption !== true && isFolder(file))
    return ofBackup(session, file, given, keys);
  if (keys !== undefined) throw new Failure('--keys goes with the folder of a backup.', EXIT.wrongUsage);
  const { kind, at, verify: work } = subjectOf(session, file);
  session.output.heading(`Verifying ${NAMES[kind]} ${at}`);
  const verification = await work(given);
  session.output.result({ verified: { kind, at }, ...verification }, verificationLines);
  return exitCodeOf(verification);
};

const isFolder = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;

const NAMES = { export: 'the export', server: 'the log of the server', stores: 'the log in' } as const;

/** Precedence: a file, the option `--url`, named stores, `PLATFORM_URL`, the stores in the default folder. */
const subjectOf = (session: Session, file: string | undefined): Subject => {
  const { server, output } = session;
  if (file !== undefined) {
    if (server?.isOption === true) throw new Failure('Use a file or --url, not both.', EXIT.wrongUsage);
    return { kind: 'export', at: resolve(file), verify: (given) => ofFile(session, file, given) };
  }
  if (server?.isOption === true || (server !== undefined && !storesNamed()))
    return { kind: 'server', at: session.api.url, verify: (given) => verifyOnline(session.api, given, output) };
  const config = storesConfig();
  return {
    kind: 'stores',
    at: config.EVENTSTORE_URL === undefined ? config.DATA_DIR : `EventStoreDB at ${hostOf(config.EVENTSTORE_URL)}`,
    verify: (given) => atRest(session, given, config),
  };
};

/** Without user, password and settings. */
const hostOf = (url: string): string =>
  url
    .replace(/^\w+(\+\w+)?:\/\//, '')
    .replace(/^.*@/, '')
    .replace(/[/?].*$/, '');

const ofFile = async ({ output }: Session, file: string, { since, publicKey }: VerifyGiven): Promise<Verification> => {
  await orFailure(assertExport(file));
  const verification = await shown(output, (onProgress) =>
    orFailure(verifyExport(file, { since, publicKeys: publicKey === undefined ? [] : [publicKey], onProgress })),
  );
  if (verification.trustsFile)
    output.note(
      'The public key was taken from the file itself. To prove who signed, give the key that you received separately with --public-key.',
    );
  return verification;
};

/** The files of a backup by their hashes, then the log in it by its seals. */
const ofBackup = async (
  { output }: Session,
  folder: string,
  given: VerifyGiven,
  keysFile: string | undefined,
): Promise<ExitCode> => {
  if (!['manifest.json', 'log'].some((name) => existsSync(join(folder, name))))
    throw new Failure(`${folder} is a folder, not an export, and holds no backup.`, EXIT.wrongUsage);
  const verified = { kind: 'backup', at: resolve(folder) };
  output.heading(`Verifying the backup ${verified.at}`);
  const config = storesConfig();
  const vaultKey = findInstanceKey(config, 'VAULT_KEY');
  const onBytes = (progress: { readonly done: number; readonly total: number }): void =>
    output.progress(progressBar('check', progress));
  const check = await orFailure(checkBackup({ folder, keysFile, vaultKey, onBytes }));
  output.progressDone();
  if (keysFile !== undefined && vaultKey === undefined)
    output.note('Whether the keys open was not checked, because no VAULT_KEY is known here.');
  const { manifest, ...backup } = check;
  const isOk = check.findingsInAll === 0;
  if (!hasLog(check)) {
    output.result({ verified, ok: false, manifest, backup }, () => backupLines(check));
    return EXIT.foundWrong;
  }
  const verification = await atRest({ output }, given, config, folder);
  output.result({ verified, ...verification, ok: isOk && verification.ok, manifest, backup }, () => [
    ...backupLines(check),
    ...verificationLines(verification),
  ]);
  return isOk ? exitCodeOf(verification) : EXIT.foundWrong;
};

const hasLog = ({ findings }: BackupCheck): boolean =>
  !findings.some(({ kind, path }) => path === LOG_PATH && (kind === 'missing' || kind === 'unreadable'));

/** The log in `folder`, or the configured one. No secret is needed: of `SEAL_KEY` only the public key, which an import has left there, too. */
const atRest = async (
  { output }: Pick<Session, 'output'>,
  { since, publicKey }: VerifyGiven,
  config: Config,
  folder?: string,
): Promise<Verification> => {
  const { EVENTSTORE_URL: _, ...embedded } = config;
  const of = folder === undefined ? config : { ...embedded, DATA_DIR: folder };
  assertLog(of);
  const secret = publicKey === undefined ? findInstanceKey(config, 'SEAL_KEY') : undefined;
  const publicKeys =
    publicKey !== undefined
      ? [publicKey]
      : secret !== undefined
        ? [sealKeyOf(secret).publicKey]
        : importedPublicKeys(config);
  const verification = await shown(output, (onProgress) =>
    orFailure(verifyOpened(() => openLogReader(of, { evenIfUnsound: true }), { publicKeys, since, onProgress })),
  );
  if (publicKeys === undefined)
    output.note('Signatures were not checked, because no public key is known here. Give it with --public-key.');
  return verification;
};

const knownSeal = (text: string): KnownSeal => {
  const seal = parseKnownSeal(text);
  if (seal === undefined)
    throw new Failure('--since takes a seal as verify printed it: ORDINAL:HASH.', EXIT.wrongUsage);
  return seal;
};
