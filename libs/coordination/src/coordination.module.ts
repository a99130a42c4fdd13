import {
  CLOCK,
  CONFIG,
  type Config,
  DATA_FOLDER,
  type Ids,
  IDS,
  LOGGER,
  mayShare,
  PRODUCT_VERSION,
  provideWith,
  Resources,
  type Warning,
} from '@app/kernel';
import { type DynamicModule, Module } from '@nestjs/common';
import { COORDINATION_STORE } from './coordination-store';
import type { LeasesOptions } from './lease-member';
import { Leases } from './leases';
import { openCoordinationStore } from './open-coordination-store';
import { Processes, type ProcessesOptions } from './processes';

type ProcessParts = Pick<ProcessesOptions, 'store' | 'clock' | 'logger' | 'version'> & {
  readonly ids: Ids;
  readonly config: Config;
};

const beside = { store: COORDINATION_STORE, clock: CLOCK, logger: LOGGER };

/** Provides, everywhere, `COORDINATION_STORE`, which `CONFIG` names, and who is there and does what among the processes. */
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
        provideWith(
          Processes,
          ({ ids, config, ...parts }: ProcessParts) =>
            new Processes({ ...parts, id: ids.next(), roles: config.ROLES, alone: !mayShare(config) }),
          { ...beside, ids: IDS, config: CONFIG, version: PRODUCT_VERSION },
        ),
        provideWith(Leases, (parts: LeasesOptions) => new Leases(parts), { ...beside, processes: Processes }),
      ],
      exports: [COORDINATION_STORE, Processes, Leases],
    };
  }
}
