import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, Failure } from './exit-codes';
import { count, counted, duration, type Output } from './output';
import type { PlatformClient } from './platform-client';
import { type ProjectionStatus, projectionPath, type RebuildStatus } from './projections';
import { progressBar } from './progress-bar';

const ASK_EVERY_MS = 100;

/** Starts a rebuild. With `swap` the server swaps the new version in once it is verified to be equal. */
export const startRebuild = (api: PlatformClient, name: string, swap: boolean): Promise<ProjectionStatus> =>
  api.json(`${projectionPath(name)}/rebuild`, { method: 'POST', body: { swap } });

/**
 * Shows the progress of a rebuild until it is verified (with `swap`: until it is served), and reports the result.
 * Throws if it failed, was paused or cancelled, or found differences (`EXIT.foundWrong`).
 */
export const watchRebuild = async (
  api: PlatformClient,
  name: string,
  swap: boolean,
  output: Output,
): Promise<string> => {
  const from = performance.now();
  for (;;) {
    const { rebuild } = await api.json<ProjectionStatus>(projectionPath(name));
    if (rebuild === undefined) throw new Failure(`The rebuild of ${name} was cancelled.`);
    output.progress(progressBar(`${name} v${rebuild.version} ${rebuild.state}`.padEnd(36), rebuild));
    const ended = endOf(name, rebuild, swap);
    if (ended) {
      output.progressDone();
      const { rows = 0, checksum = '' } = rebuild.verification ?? {};
      return `${name}: version ${rebuild.version} ${rebuild.state === 'swapped' ? 'is served' : 'is ready to be swapped'}, from ${counted(rebuild.done, 'event')} in ${duration((performance.now() - from) / 1000)}, equal to the version before (rows: ${count(rows)}, checksum ${checksum.slice(0, 12)})`;
    }
    await pause(ASK_EVERY_MS);
  }
};

const endOf = (name: string, { state, failure, verification }: RebuildStatus, swap: boolean): boolean => {
  if (state === 'failed')
    throw new Failure(
      `The rebuild of ${name} failed: ${failure?.reason ?? 'unknown'} ${failure?.detail ?? ''}${failure?.eventId === undefined ? '' : ` at event ${failure.eventId} (${failure.type}, ${failure.stream}@${failure.revision})`}.`,
    );
  if (state === 'paused' || state === 'removing') throw new Failure(`The rebuild of ${name} is ${state}.`);
  if (verification === undefined) return false;
  if (!verification.equal) throw new Failure(differences(name, verification), EXIT.foundWrong);
  return state === 'swapped' || (state === 'ready' && !swap);
};

const differences = (
  name: string,
  { rows, liveRows, differences: found, listed }: NonNullable<RebuildStatus['verification']>,
): string =>
  [
    `${name}: the rebuilt version differs from the live one in ${counted(found, 'row')} (${count(rows)} rebuilt, ${count(liveRows)} served):`,
    ...listed.map(({ key, difference }) => `  ${difference}  ${key}`),
    'If the new version is right, swap it in. If not, cancel the rebuild.',
  ].join('\n');
