import { join } from 'node:path';
import {
  type Clock,
  CLOCK,
  CONFIG,
  type Config,
  DATA_FOLDER,
  type Ids,
  IDS,
  LOGGER,
  type Logger,
  mayShare,
  PRODUCT_VERSION,
  provideWith,
  Resources,
  retry,
  type RetryOptions,
  type Warning,
} from '@app/kernel';
import { type DynamicModule, Module } from '@nestjs/common';
import { Claims } from './claims';
import { COORDINATION_STORE, type CoordinationStore } from './coordination-store';
import type { LeasesOptions } from './lease-member';
import { Leases } from './leases';
import { Processes, type ProcessesOptions } from './processes';
import { openMongoCoordinationStore } from './mongo/mongo-coordination-store';
import { openSqliteCoordinationStore } from './sqlite/sqlite-coordination-store';

type ProcessParts = Pick<ProcessesOptions, 'store' | 'clock' | 'logger' | 'version'> & {
  readonly ids: Ids;
  readonly config: Config;
};

/** A process that has not been heard of for this long is dead: others take up what it worked on, milliseconds. */
const CLAIM_MS = 5_000;

const beside = { store: COORDINATION_STORE, clock: CLOCK, logger: LOGGER };

/** Provides, everywhere, `COORDINATION_STORE`, which `CONFIG` names, and who is there, does what (`Leases`) and works on what (`Claims`) among the processes. */
@Module({})
export class CoordinationModule {
  static forRoot(): DynamicModule {
    return {
      module: CoordinationModule,
      global: true,
      providers: [
        {
          provide: COORDINATION_STORE,
          inject: [CONFIG, DATA_FOLDER, LOGGER, Resources],
          useFactory: (config: Config, DATA_DIR: string, logger: Warning, resources: Resources) =>
            resources.open(() =>
              openCoordinationStore({ ...config, DATA_DIR }, { warn: (sentence) => logger.warn(sentence) }),
            ),
        },
        {
          provide: Claims,
          inject: [COORDINATION_STORE, CLOCK, IDS, LOGGER],
          useFactory: (store: CoordinationStore, clock: Clock, ids: Ids, logger: Logger) =>
            new Claims(store, clock, ids.next(), CLAIM_MS, logger),
        },
        provideWith(
          Processes,
          ({ ids, config, ...parts }: ProcessParts) =>
            new Processes({
              ...parts,
              id: ids.next(),
              roles: config.ROLES,
              alone: !mayShare(config),
              ...(config.PROCESS_URL === undefined ? {} : { url: config.PROCESS_URL }),
            }),
          { ...beside, ids: IDS, config: CONFIG, version: PRODUCT_VERSION },
        ),
        provideWith(Leases, (parts: LeasesOptions) => new Leases(parts), { ...beside, processes: Processes }),
      ],
      exports: [COORDINATION_STORE, Claims, Processes, Leases],
    };
  }
}

/** Opens the store of what processes agree on, which stands where the views do: on the server that `MONGODB_URL` names, which is waited for, else under `DATA_DIR`. */
const openCoordinationStore = (
  { MONGODB_URL: url, DATA_DIR }: Pick<Config, 'MONGODB_URL' | 'DATA_DIR'>,
  options: RetryOptions = {},
): Promise<CoordinationStore> =>
  url === undefined
    ? openSqliteCoordinationStore({ folder: join(DATA_DIR, 'views') })
    : retry(() => openMongoCoordinationStore({ url }), options);
