import type { Projecting, ProjectionStatus } from '@app/projecting';
import type { Metrics } from '@app/telemetry';

/** Lag, dead letters and rows of each view. */
export const measureProjections = (metrics: Metrics, projecting: Pick<Projecting, 'status'>): void => {
  const of = (read: (status: ProjectionStatus) => number) => async () => new Map((await projecting.status()).map((status) => [status.name, read(status)]));
  metrics.gauge('projection_lag_events', 'Events of the log that the view has not seen.', 'projection', of(({ lagEvents }) => lagEvents));
  metrics.gauge('projection_lag_seconds', 'Age of the oldest event that the view has not seen.', 'projection', of(({ lagSeconds }) => lagSeconds));
  metrics.gauge('projection_dead_letters', 'Events that could not be applied to the view.', 'projection', of(({ deadLetters }) => deadLetters));
};
