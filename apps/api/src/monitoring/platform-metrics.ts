import type { ProjectionStatus } from '@app/projecting';
import type { Metrics } from '@app/telemetry';
import { ingestionQueue } from '@projections/ingestion-queue';
import type { Host } from '../host';

/** Lag and dead letters of each view and policy, and the depth of the ingestion queue. */
export const measurePlatform = (metrics: Metrics, { projecting, policies, stores }: Pick<Host, 'projecting' | 'policies' | 'stores'>): void => {
  const ofViews = (read: (status: ProjectionStatus) => number) => async () => new Map((await projecting.status()).map((status) => [status.name, read(status)]));
  metrics.gauge('projection_lag_events', 'Events of the log that the view has not seen.', 'projection', ofViews(({ lagEvents }) => lagEvents));
  metrics.gauge('projection_lag_seconds', 'Age of the oldest event that the view has not seen.', 'projection', ofViews(({ lagSeconds }) => lagSeconds));
  metrics.gauge('projection_dead_letters', 'Events that could not be applied to the view.', 'projection', ofViews(({ deadLetters }) => deadLetters));
  metrics.gauge('policy_dead_letters', 'Events that the policy could not handle.', 'policy', async () => new Map(policies.status().map(({ name, deadLetters }) => [name, deadLetters])));
  metrics.gauge('queue_depth', 'Work that waits.', 'queue', async () => new Map([['ingestion', await stores.readStore.count(ingestionQueue.name)]]));
};
