import { type KnownSeal, parseKnownSeal, sealKeyOf, type Verification, verifyExport, verifyStores } from '@app/sealing';
import { type Command, InvalidArgumentError } from 'commander';
import type { Run, Session, Verb } from '../session';
import { instanceKey, orFailure, storesConfig } from '../stores';
import { exitCodeOf, shown, verificationLines, type VerifyGiven, verifyOnline } from '../verification';

/** Ends with `EXIT.foundWrong` when anything is not as it was sealed. */
const verify: Verb<[file: string | undefined, VerifyGiven]> = async (session, file, given) => {
  const verification = await verificationOf(session, file, given);
  session.output.result(verification, verificationLines);
  return exitCodeOf(verification);
};

const verificationOf = (session: Session, file: string | undefined, given: VerifyGiven): Promise<Verification> => {
  if (file !== undefined) return ofFile(session, file, given);
  return session.url === undefined ? atRest(session, given) : verifyOnline(session.api, given, session.output);
};

const ofFile = async ({ output }: Session, file: string, { since, publicKey }: VerifyGiven): Promise<Verification> => {
  const verification = await shown(output, (onProgress) => orFailure(verifyExport(file, { since, publicKeys: publicKey === undefined ? [] : [publicKey], onProgress })));
  if (verification.trustsFile) output.note('The key was taken from the file itself. To prove who signed, give the one you were told by another way with --public-key.');
  return verification;
};

const atRest = async ({ output }: Session, { since, publicKey }: VerifyGiven): Promise<Verification> => {
  const config = storesConfig();
  const publicKeys = [publicKey ?? sealKeyOf(instanceKey(config, 'SEAL_KEY')).publicKey];
  return shown(output, (onProgress) => orFailure(verifyStores(config.DATA_DIR, { publicKeys, since, onProgress })));
};

const knownSeal = (text: string): KnownSeal => {
  const seal = parseKnownSeal(text);
  if (seal === undefined) throw new InvalidArgumentError('must be a seal as an earlier verification printed it: ORDINAL:HASH.');
  return seal;
};

export const addVerifyVerb = (program: Command, run: Run): void => {
  program
    .command('verify [file]')
    .description('prove that the log is as it was sealed: of a server (with --url), of the stores in DATA_DIR, or of an export file')
    .option('--since <seal>', 'a seal noted earlier: finds a tail that was cut off since', knownSeal)
    .option('--public-key <key>', 'the key to trust, base64url; default: the one that the server, the stores or the file name')
    .action(run(verify));
};
