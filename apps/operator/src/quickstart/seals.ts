import { EXIT, Failure } from '../exit-codes';
import type { Output } from '../output';
import type { PlatformClient } from '../platform-client';
import { verificationLines, verifyOnline } from '../verification';
import { poll, type Steps } from './steps';

const SEALED_WITHIN_MS = 30_000;

/** Waits until what was written so far is sealed, then verifies the whole log. */
export const showSeals = async (api: PlatformClient, steps: Steps, output: Output): Promise<void> => {
  const newest: { items: readonly { id: string }[] } = await api.json('/api/v1/audit/events', {
    query: { limit: 1, category: 'agent' },
  });
  await poll('The seal over the last change', SEALED_WITHIN_MS, async () => {
    const { items }: { items: readonly { ordinal: number | null }[] } = await api.json('/api/v1/audit/events', {
      query: { limit: 1, category: 'agent' },
    });
    return items[0]?.ordinal ?? undefined;
  });
  const verification = await verifyOnline(api, {}, output);
  for (const line of verificationLines(verification)) steps.say(line);
  if (!verification.ok) throw new Failure('The log differs from its seals.', EXIT.foundWrong);
  const proof: { ordinal: number; path: readonly string[]; seal: { root: string } } = await api.json(
    `/api/v1/audit/proof/${newest.items[0]?.id ?? ''}`,
  );
  steps.say(
    `The last change of an Agent is event ${proof.ordinal} of the log; ${proof.path.length} hashes lead from it to the signed root ${proof.seal.root.slice(0, 16)}...`,
  );
};
