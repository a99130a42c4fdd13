import { type KnownSeal, parseKnownSeal, sealKeyOf, type Verification, verifyStores } from '@app/sealing';
import { type Command, InvalidArgumentError } from 'commander';
import type { Run, Session, Verb } from '../session';
import { instanceKey, storesConfig } from '../stores';
import { exitCodeOf, shown, verificationLines, type VerifyGiven, verifyOnline } from '../verification';

/** Ends with `EXIT.foundWrong` when anything is not as it was sealed. */
const verify: Verb<[VerifyGiven]> = async (session, given) => {
  const verification = await (session.url === undefined ? atRest(session, given) : verifyOnline(session.api, given, session.output));
  session.output.result(verification, verificationLines);
  return exitCodeOf(verification);
};

const atRest = async ({ output }: Session, { since, publicKey }: VerifyGiven): Promise<Verification> => {
  const config = storesConfig();
  const publicKeys = [publicKey ?? sealKeyOf(instanceKey(config, 'SEAL_KEY')).publicKey];
  return shown(output, (onProgress) => verifyStores(config.DATA_DIR, { publicKeys, since, onProgress }));
};

const knownSeal = (text: string): KnownSeal => {
  const seal = parseKnownSeal(text);
  if (seal === undefined) throw new InvalidArgumentError('must be a seal as an earlier verification printed it: ORDINAL:HASH.');
  return seal;
};

export const addVerifyVerb = (program: Command, run: Run): void => {
  program
    .command('verify')
    .description('prove that the log is as it was sealed: of a server (with --url), of the stores in DATA_DIR, or of an export file')
    .option('--since <seal>', 'a seal noted earlier: finds a tail that was cut off since', knownSeal)
    .option('--public-key <key>', 'the key to trust, base64url; default: the one that the server or the stores name')
    .action(run(verify));
};
