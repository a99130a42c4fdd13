import { resolve } from 'node:path';
import { openLogReader } from '@app/hosting';
import { type KnownSeal, parseKnownSeal, sealKeyOf, type Verification, verifyExport, verifyOpened } from '@app/sealing';
import { EXIT, Failure } from '../exit-codes';
import type { Session, Verb } from '../session';
import { assertExport } from './export-file';
import { assertLog, findInstanceKey, importedPublicKeys, orFailure, storesConfig, storesNamed } from './config';
import { exitCodeOf, shown, verificationLines, type VerifyGiven, verifyOnline } from '../verification';

// Opens the log alone, without Nest: an auditor verifies without the secrets and stores of the platform, a damaged log too.

/** What is verified, printed first: no log must be taken for another. */
interface Subject {
  readonly kind: 'export' | 'server' | 'stores';
  readonly at: string;
  readonly verify: (given: VerifyGiven) => Promise<Verification>;
}

/** Ends with `EXIT.foundWrong` when anything is not as it was sealed. */
export const verify: Verb<
  [file: string | undefined, { readonly since?: string; readonly publicKey?: string }]
> = async (session, file, { since, publicKey }) => {
  const known = since === undefined ? undefined : knownSeal(since);
  const { kind, at, verify: work } = subjectOf(session, file);
  session.output.heading(`Verifying ${NAMES[kind]} ${at}`);
  const verification = await work({ since: known, publicKey });
  session.output.result({ verified: { kind, at }, ...verification }, verificationLines);
  return exitCodeOf(verification);
};

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
    verify: (given) => atRest(session, given),
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

/** No secret is needed: of `SEAL_KEY` only the public key, which an import has left there, too. */
const atRest = async ({ output }: Session, { since, publicKey }: VerifyGiven): Promise<Verification> => {
  const config = storesConfig();
  assertLog(config);
  const secret = publicKey === undefined ? findInstanceKey(config, 'SEAL_KEY') : undefined;
  const publicKeys =
    publicKey !== undefined
      ? [publicKey]
      : secret !== undefined
        ? [sealKeyOf(secret).publicKey]
        : importedPublicKeys(config);
  const verification = await shown(output, (onProgress) =>
    orFailure(verifyOpened(() => openLogReader(config, { evenIfUnsound: true }), { publicKeys, since, onProgress })),
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
