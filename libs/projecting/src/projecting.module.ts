import { BLOBS } from '@app/blobs';
import { COORDINATION_STORE, Leases } from '@app/coordination';
import { EVENT_LOG } from '@app/event-log';
import { CLOCK, EventCodec, LOGGER, provideWith } from '@app/kernel';
import { READ_STORE } from '@app/read-store';
import { SEARCH_INDEX } from '@app/search-index';
import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { DeletionWithOwner } from './policies/deletion-with-owner';
import { Policies, type PoliciesOptions } from './policies/policies';
import { PolicyExplorer } from './policies/policy-explorer';
import { policyAggregates } from './policies/policy.aggregates';
import { UnfinishedWork } from './policies/unfinished';
import { Projecting, type ProjectingOptions } from './projecting';
import { CompleteViews } from './views/complete-views';

/** Injection token of every projection of the application. */
export const PROJECTIONS = Symbol('Projections');
/** Injection token of the `Ordinals`: counts of the log. */
export const ORDINALS = Symbol('Ordinals');
/** Injection token of what starts the thread that rebuilds views. */
export const REBUILD_WORKERS = Symbol('RebuildWorkers');

const stores = { readStore: READ_STORE, searchIndex: SEARCH_INDEX, blobs: BLOBS };
const beside = { log: EVENT_LOG, codec: EventCodec, ordinals: ORDINALS, leases: Leases, clock: CLOCK, logger: LOGGER };

/**
 * Provides globally the services that keep views (`PROJECTIONS`) up to date with the log and run policies
 * (`@PolicyHandler()`), and what makes some of these. Other modules provide `PROJECTIONS`, `ORDINALS` and `REBUILD_WORKERS`. Nothing runs before it
 * is started.
 */
@Module({})
export class ProjectingModule {
  static readonly aggregates = policyAggregates;

  static forRoot(): DynamicModule {
    return {
      module: ProjectingModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [
        provideWith(Projecting, (parts: ProjectingOptions) => new Projecting(parts), {
          ...beside,
          ...stores,
          projections: PROJECTIONS,
          spawn: REBUILD_WORKERS,
        }),
        provideWith(Policies, (parts: PoliciesOptions) => new Policies(parts), {
          ...beside,
          coordination: COORDINATION_STORE,
        }),
        PolicyExplorer,
        DeletionWithOwner,
        CompleteViews,
        UnfinishedWork,
      ],
      exports: [Projecting, Policies, DeletionWithOwner, CompleteViews, UnfinishedWork],
    };
  }
}
