import type { Output } from '../output';
import type { PlatformClient } from '../platform-client';
import { allProjections, projectionPath } from '../projections';
import { startRebuild, watchRebuild } from '../rebuilds';
import type { Steps } from './steps';

/** Rebuilds every view from the log while the product serves. Each is compared with the live one and swapped in if equal. */
export const rebuildEveryView = async (api: PlatformClient, steps: Steps, output: Output): Promise<void> => {
  const projections = await allProjections(api);
  for (const { name, rebuild } of projections) {
    // Kept for a way back by an earlier run.
    if (rebuild?.state === 'swapped') await api.json(`${projectionPath(name)}/retire`, { method: 'POST' });
    await startRebuild(api, name, true);
  }
  for (const { name } of projections) steps.say(await watchRebuild(api, name, true, output));
};
