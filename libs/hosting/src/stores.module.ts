import { BlobsModule } from '@app/blobs';
import { COORDINATION_STORE, CoordinationModule } from '@app/coordination';
import { EVENT_LOG, EVENT_MAC, EventLogModule, eventMacOf } from '@app/event-log';
import {
  CONFIG,
  type Config,
  DATA_FOLDER,
  Decisions,
  EventCatalogue,
  EventCodec,
  InstanceSecret,
  type Keyring,
  LOGGER,
  retry,
  provideWith,
  Resources,
  type StreamLog,
  type Warning,
} from '@app/kernel';
import { Models, ModelsModule } from '@app/models';
import { READ_STORE, type ReadStore, ReadStoreModule } from '@app/read-store';
import { EVENT_HASHERS, eventHashers, SEAL_KEY, sealKeyOf } from '@app/sealing';
import { SEARCH_INDEX, SearchIndexModule } from '@app/search-index';
import { Metrics } from '@app/telemetry';
import { type Vault, VAULT, VAULT_KEY, VaultModule } from '@app/vault';
import { Global, Module } from '@nestjs/common';
import { INSTANCE_KEYS, type InstanceKeys, loadInstanceKeys } from './instance-keys';
import { INSTANCE_SECRET, lockEmbeddedStores } from './open-stores';
import { PREPARED_STORES, prepareStores } from './prepare-stores';

const keys = [
  provideWith(INSTANCE_KEYS, loadInstanceKeys, { config: CONFIG, log: EVENT_LOG, logger: LOGGER }),
  { provide: VAULT_KEY, inject: [INSTANCE_KEYS], useFactory: ({ vaultKey }: InstanceKeys) => vaultKey },
  { provide: SEAL_KEY, inject: [INSTANCE_KEYS], useFactory: ({ sealSecret }: InstanceKeys) => sealKeyOf(sealSecret) },
  { provide: EVENT_MAC, inject: [INSTANCE_KEYS], useFactory: ({ sealSecret }: InstanceKeys) => eventMacOf(sealSecret) },
  {
    provide: EVENT_HASHERS,
    inject: [CONFIG, INSTANCE_KEYS],
    useFactory: (config: Config, { sealSecret }: InstanceKeys) => eventHashers({ config, sealSecret }),
  },
];

/** The log is opened first: the embedded one is locked with its folder. */
const folder = {
  provide: DATA_FOLDER,
  inject: [CONFIG, Resources, INSTANCE_KEYS],
  useFactory: async (config: Config, resources: Resources) => {
    await resources.open(() => lockEmbeddedStores(config));
    return config.DATA_DIR;
  },
};

const decisions = [
  {
    provide: EventCodec,
    inject: [EventCatalogue, VAULT],
    useFactory: (catalogue: EventCatalogue, vault: Keyring) => new EventCodec(catalogue, vault),
  },
  {
    provide: Decisions,
    inject: [EVENT_LOG, EventCodec, READ_STORE],
    useFactory: (log: StreamLog, codec: EventCodec, readStore: ReadStore) => new Decisions(log, codec, readStore),
  },
  provideWith(PREPARED_STORES, prepareStores, {
    log: EVENT_LOG,
    vault: VAULT,
    readStore: READ_STORE,
    coordination: COORDINATION_STORE,
    searchIndex: SEARCH_INDEX,
    decisions: Decisions,
    models: Models,
    mac: EVENT_MAC,
    sealKey: SEAL_KEY,
    metrics: Metrics,
    logger: LOGGER,
  }),
  {
    provide: InstanceSecret,
    inject: [VAULT, LOGGER, PREPARED_STORES],
    useFactory: async (vault: Vault, logger: Warning) =>
      new InstanceSecret(
        await retry(() => vault.ensureKey(INSTANCE_SECRET, {}), { warn: (sentence) => logger.warn(sentence) }),
      ),
  },
];

const exported = [...keys, folder, ...decisions];

/** Provides every port of the platform, and, everywhere, the keys of the instance and what decides and writes events. */
@Global()
@Module({
  imports: [
    EventLogModule.forRoot(),
    VaultModule.forRoot(),
    BlobsModule.forRoot(),
    ReadStoreModule.forRoot(),
    CoordinationModule.forRoot(),
    SearchIndexModule.forRoot(),
    ModelsModule.forRoot(),
  ],
  providers: exported,
  exports: exported.map(({ provide }) => provide),
})
export class StoresModule {}
