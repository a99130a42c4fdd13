import { BLOBS, type Blobs } from '@app/blobs';
import { COORDINATION_STORE, type CoordinationStore } from '@app/coordination';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import { Decisions, EventCodec } from '@app/kernel';
import { Models } from '@app/models';
import { Policies, Projecting, UnfinishedWork } from '@app/projecting';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { EVENT_RELAY, type Relay } from '@app/relay';
import { SEAL_KEY, Sealer, type SealKey } from '@app/sealing';
import { SEARCH_INDEX, type SearchIndex } from '@app/search-index';
import { type Vault, VAULT } from '@app/vault';
import type { INestApplicationContext, InjectionToken } from '@nestjs/common';

/** What a running process is made of, for tests that look behind its answers. */
export const hostOf = (app: INestApplicationContext) => {
  const get = <T>(token: InjectionToken<T>): T => app.get<T>(token, { strict: false });
  return {
    stores: {
      log: get<EventLog>(EVENT_LOG),
      readStore: get<ReadStore>(READ_STORE),
      coordination: get<CoordinationStore>(COORDINATION_STORE),
      searchIndex: get<SearchIndex>(SEARCH_INDEX),
      vault: get<Vault>(VAULT),
      blobs: get<Blobs>(BLOBS),
      codec: get(EventCodec),
      decisions: get(Decisions),
    },
    projecting: get(Projecting),
    policies: get(Policies),
    models: get(Models),
    sealer: get(Sealer),
    sealKey: get<SealKey>(SEAL_KEY),
    unfinished: get(UnfinishedWork),
    relay: get<Relay | undefined>(EVENT_RELAY),
  };
};

export type Host = ReturnType<typeof hostOf>;
