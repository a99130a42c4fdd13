import { type KnownSeal, knownSealText, type Verification, verify } from '@app/sealing';
import { EXIT, type ExitCode } from './exit-codes';
import { httpSource } from './http-source';
import { count, counted, type Output } from './output';
import type { PlatformClient } from './platform-client';
import { progressBar } from './progress-bar';

export interface VerifyGiven {
  /** A seal noted at an earlier verification. */
  readonly since?: KnownSeal | undefined;
  /** Public key to trust, base64url; absent: the one that the source itself names. */
  readonly publicKey?: string | undefined;
}

/** Verifies the log of a running server by its audit API: every hash is computed here. */
export const verifyOnline = async (
  api: PlatformClient,
  { since, publicKey }: VerifyGiven,
  output: Output,
): Promise<Verification> => {
  const trusted = publicKey ?? (await api.json<{ publicKey: string }>('/api/v1/audit/seals/key')).publicKey;
  return shown(output, (onProgress) => verify(httpSource(api), { publicKeys: [trusted], since, onProgress }));
};

/** Runs a verification with a progress bar. */
export const shown = async <T extends Verification>(
  output: Output,
  work: (onProgress: (progress: { readonly done: number; readonly total: number }) => void) => Promise<T>,
): Promise<T> => {
  try {
    return await work((progress) => output.progress(progressBar('verifying', progress)));
  } finally {
    output.progressDone();
  }
};

export const exitCodeOf = ({ ok }: Verification): ExitCode => (ok ? EXIT.done : EXIT.foundWrong);

/** Most unproven events that are shown to people. */
const MOST_SHOWN = 20;

/** What a verification found, for people. */
export const verificationLines = ({
  ok,
  events,
  seals,
  lastSeal,
  unsealed,
  unproven,
  withoutMacs,
  foreign,
  removals,
  erasuresInAll,
  keyIds,
  findings,
  findingsInAll,
}: Verification): readonly string[] => [
  ok
    ? `The log is as it was sealed: ${counted(events, 'event')} under ${counted(seals, 'seal')}.`
    : `The log is NOT as it was sealed: ${counted(findingsInAll, 'finding')} in ${counted(events, 'sound event')} under ${counted(seals, 'seal')}.`,
  ...findings.map(
    ({ kind, detail, ordinal, stream, revision, position }) =>
      `  ${kind}  ${[ordinal === undefined ? undefined : `ordinal ${ordinal}`, stream === undefined ? undefined : `${stream}@${revision ?? '?'}`, position === undefined ? undefined : `position ${position}`].filter((place) => place !== undefined).join(', ')}: ${detail}`,
  ),
  ...(findingsInAll > findings.length ? [`  and ${count(findingsInAll - findings.length)} more`] : []),
  ...(unsealed.events > 0
    ? [
        `Unproven, not sealed yet: ${counted(unsealed.events, 'event')}${unsealed.since === null ? '' : ` since ${unsealed.since}`}. A running product seals its own events within a second.`,
      ]
    : []),
  ...unproven
    .slice(0, MOST_SHOWN)
    .map(({ stream, revision, position }) => `  unproven  ${stream}@${revision}, position ${position}`),
  ...(unsealed.events > MOST_SHOWN ? [`  and ${count(unsealed.events - MOST_SHOWN)} more`] : []),
  ...(withoutMacs.events > 0
    ? [
        `Sealed without a MAC, by an earlier version or an import: ${counted(withoutMacs.events, 'event')} up to ordinal ${withoutMacs.upTo}.`,
      ]
    : []),
  ...(foreign.since === null
    ? []
    : [
        `Other programs wrote to the same server: ${counted(foreign.events, 'event')} since ${foreign.since.at} (position ${foreign.since.position}). They are not part of the log.`,
      ]),
  ...removals.map(
    ({ stream, beforeRevision, events: gone, reason, receiptId }) =>
      `Removed with a receipt: ${counted(gone, 'event')} of ${stream} before revision ${beforeRevision} (${reason}, receipt ${receiptId}).`,
  ),
  ...(erasuresInAll > 0 ? [`Content erased rightfully: ${counted(erasuresInAll, 'receipt')}.`] : []),
  ...(keyIds.length > 0 ? [`Signed by ${keyIds.join(', ')}.`] : []),
  ...(lastSeal === null
    ? []
    : [
        ok
          ? `Last seal, to note for --since: ${knownSealText(lastSeal)}`
          : `Last seal, NOT to note, since something is wrong: ${knownSealText(lastSeal)}. Keep the one that you noted before.`,
      ]),
];
