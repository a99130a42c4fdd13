import type { EventLog, EventMac } from '@app/event-log';
import { coalesced, isUnavailable } from '@app/kernel';
import type { Models } from '@app/models';
import type { Policies, PolicyStatus, Projecting, ProjectionStatus } from '@app/projecting';
import type { ReadStore } from '@app/read-store';
import type { Relay } from '@app/relay';
import { knownUnproven } from '@app/sealing';
import type { Metrics } from '@app/telemetry';
import { ingestionQueue } from '@projections/ingestion-queue';
import { reindexingOf } from './reindexing';

const unknownIfUnavailable = (error: unknown): number => {
  if (isUnavailable(error)) return Number.NaN;
  throw error;
};

/** What is measured beside requests and appends. */
export interface MeasuredParts {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly projecting: Projecting;
  readonly policies: Policies;
  /** Undefined where no brokers are configured. */
  readonly relay: Relay | undefined;
  readonly models: Models;
  readonly mac: EventMac;
}

/** Lag and dead letters of each view and policy, the depth of the ingestion queue, what was relayed, and which model providers are left alone. */
export const measurePlatform = (
  metrics: Metrics,
  { projecting, policies, relay, log, readStore, models, mac }: MeasuredParts,
): void => {
  const [statusOfViews, statusOfPolicies] = [coalesced(() => projecting.status()), coalesced(() => policies.status())];
  const unproven = coalesced(() => knownUnproven(log, mac).then(({ events }) => events, unknownIfUnavailable));
  const ofViews = (read: (status: ProjectionStatus) => number) => async () =>
    new Map((await statusOfViews()).map((status) => [status.name, read(status)]));
  const ofPolicies = (read: (status: PolicyStatus) => number) => async () =>
    new Map((await statusOfPolicies()).map((status) => [status.name, read(status)]));
  metrics.gauge(
    'projection_lag_events',
    'Events that the view has not handled yet. NaN if not counted.',
    'projection',
    ofViews(({ lagEvents }) => lagEvents ?? Number.NaN),
  );
  metrics.gauge(
    'projection_lag_seconds',
    'Age of the oldest event that the view has not handled.',
    'projection',
    ofViews(({ lagSeconds }) => lagSeconds),
  );
  metrics.gauge(
    'projection_dead_letters',
    'Events that the view could not handle.',
    'projection',
    ofViews(({ deadLetters }) => deadLetters),
  );
  metrics.gauge(
    'policy_dead_letters',
    'Events that the policy could not handle.',
    'policy',
    ofPolicies(({ deadLetters }) => deadLetters),
  );
  metrics.gauge(
    'policy_lag_seconds',
    'Age of the oldest event that the policy has not handled.',
    'policy',
    ofPolicies(({ lagSeconds }) => lagSeconds),
  );
  metrics.gauge(
    'queue_depth',
    'Work that waits.',
    'queue',
    async () => new Map([['ingestion', await readStore.count(ingestionQueue.name, { open: true })]]),
  );
  const reindexing = coalesced(() => reindexingOf(readStore, models));
  metrics.gauge(
    'reindex_due',
    'Whether documents have vectors of another model than the configured one: 1 or 0.',
    null,
    async () => new Map([['', Number((await reindexing()).due)]]),
  );
  metrics.gauge(
    'reindex_jobs',
    'Re-index jobs that are not ended.',
    'state',
    async () => new Map(Object.entries((await reindexing()).jobs)),
  );
  metrics.gauge(
    'unproven_events',
    'Events that nobody with SEAL_KEY appended, so they are not sealed. NaN while the log is away.',
    null,
    async () => new Map([['', await unproven()]]),
  );
  if (relay !== undefined)
    metrics.gauge(
      'relay_messages',
      'Integration events since the start of this process: accepted by the brokers, and batches that they did not accept.',
      'outcome',
      async () => new Map(Object.entries(relay.counts)),
    );
  metrics.gauge(
    'provider_circuit_open',
    'Circuit breaker of the model provider, for the kind of model that fails most: 1 open (calls are stopped), 0.5 half-open, 0 closed.',
    'provider',
    async () =>
      new Map(
        models.providerStatus().map(({ name, circuit }) => [name, { open: 1, 'half-open': 0.5, closed: 0 }[circuit]]),
      ),
  );
};
