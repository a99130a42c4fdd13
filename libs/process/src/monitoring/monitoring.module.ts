import { AuditingModule, knownForeign } from '@app/auditing';
import { BLOBS, type Blobs } from '@app/blobs';
import { COORDINATION_STORE, type CoordinationStore, Leases } from '@app/coordination';
import { EVENT_LOG, EVENT_MAC, type EventLog, type EventMac } from '@app/event-log';
import { PRODUCT_VERSION, provideWith } from '@app/kernel';
import { Models } from '@app/models';
import { Policies, Projecting } from '@app/projecting';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { EVENT_RELAY, type Relay, RelayModule } from '@app/relay';
import { knownUnproven } from '@app/sealing';
import { SEARCH_INDEX, type SearchIndex } from '@app/search-index';
import { Metrics } from '@app/telemetry';
import { type Vault, VAULT } from '@app/vault';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { ClockWatch } from './clock-watch';
import { Health, roleHealth } from './health';
import { HealthController } from './health.controller';
import { MetricsController } from './metrics.controller';
import { measurePlatform, type MeasuredParts } from './platform-metrics';
import { namedReindexingOf } from './reindexing';
import { blobsHealth } from './stored-files';

const MEASURED = Symbol('MeasuredParts');

interface HealthyParts {
  readonly log: EventLog;
  readonly readStore: ReadStore;
  readonly coordination: CoordinationStore;
  readonly vault: Vault;
  readonly blobs: Blobs;
  readonly searchIndex: SearchIndex;
  readonly relay: Relay | undefined;
  readonly projecting: Projecting;
  readonly policies: Policies;
  readonly leases: Leases;
  readonly models: Models;
  readonly mac: EventMac;
  readonly clockWatch: ClockWatch;
  readonly version: string;
}

const healthOf = (parts: HealthyParts): Health => {
  const { log, readStore, coordination, vault, searchIndex, relay, models, mac, leases, clockWatch } = parts;
  const logHealth = async () => {
    const { readable, writable, slow, reason } = await log.health();
    return {
      ok: readable && writable,
      ...(slow === undefined ? {} : { slow }),
      ...(reason === undefined ? {} : { reason }),
    };
  };
  return new Health({
    ...parts,
    dependencies: {
      log: logHealth,
      // What processes agree on stands in the same place.
      readStore: async () => {
        const [views, shared] = await Promise.all([readStore.health(), coordination.health()]);
        return views.ok ? shared : views;
      },
      vault: () => vault.health(),
      blobs: () => blobsHealth(parts),
    },
    optional: {
      searchIndex: () => searchIndex.health(),
      ...(relay === undefined ? {} : { kafka: () => relay.health() }),
      ...roleHealth(leases.processes),
      clock: async () => clockWatch.health(),
    },
    foreignEvents: () => knownForeign(readStore),
    unprovenEvents: () => knownUnproven(log, mac),
    reindexing: () => namedReindexingOf(readStore, coordination, models),
    providers: () => models.providerStatus(),
  });
};

/** What every process answers, whatever it runs: how it is doing. */
@Module({
  imports: [AuditingModule, RelayModule],
  controllers: [HealthController, MetricsController],
  providers: [
    ClockWatch,
    provideWith(Health, healthOf, {
      log: EVENT_LOG,
      readStore: READ_STORE,
      coordination: COORDINATION_STORE,
      vault: VAULT,
      blobs: BLOBS,
      searchIndex: SEARCH_INDEX,
      relay: EVENT_RELAY,
      projecting: Projecting,
      policies: Policies,
      leases: Leases,
      models: Models,
      mac: EVENT_MAC,
      clockWatch: ClockWatch,
      version: PRODUCT_VERSION,
    }),
    provideWith(MEASURED, (parts: MeasuredParts) => parts, {
      log: EVENT_LOG,
      readStore: READ_STORE,
      projecting: Projecting,
      policies: Policies,
      relay: EVENT_RELAY,
      models: Models,
      mac: EVENT_MAC,
    }),
  ],
  exports: [Health],
})
export class MonitoringModule implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    @Inject(MEASURED) private readonly measured: MeasuredParts,
    private readonly clockWatch: ClockWatch,
  ) {}

  onModuleInit(): void {
    measurePlatform(this.metrics, this.measured);
    // A slow log delays no start.
    void this.clockWatch.start();
  }
}
