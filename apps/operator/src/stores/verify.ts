import { openLogReader } from '@app/hosting';
import { type KnownSeal, parseKnownSeal, sealKeyOf, type Verification, verifyExport, verifyOpened } from '@app/sealing';
import { EXIT, Failure } from '../exit-codes';
import type { Session, Verb } from '../session';
import { instanceKey, orFailure, storesConfig } from './config';
import { exitCodeOf, shown, verificationLines, type VerifyGiven, verifyOnline } from '../verification';

/** Ends with `EXIT.foundWrong` when anything is not as it was sealed. */
export const verify: Verb<[file: string | undefined, { readonly since?: string; readonly publicKey?: string }]> = async (session, file, { since, publicKey }) => {
  const verification = await verificationOf(session, file, { since: since === undefined ? undefined : knownSeal(since), publicKey });
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
  return shown(output, (onProgress) => orFailure(verifyOpened(() => openLogReader(config, { evenIfUnsound: true }), { publicKeys, since, onProgress })));
};

const knownSeal = (text: string): KnownSeal => {
  const seal = parseKnownSeal(text);
  if (seal === undefined) throw new Failure('--since takes a seal as an earlier verification printed it: ORDINAL:HASH.', EXIT.wrongUsage);
  return seal;
};
