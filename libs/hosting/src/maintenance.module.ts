import { Processes } from '@app/coordination';
import { ForgetErased } from '@app/erasure';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import { Decisions, LOGGER, type Logger, provideWith } from '@app/kernel';
import { Models } from '@app/models';
import { Module } from '@nestjs/common';
import { BlobSweep } from './blob-sweep';
import { CatalogueReloads } from './catalogue-reloads';
import { INSTANCE_KEYS, type InstanceKeys } from './instance-keys';

interface ReloadParts {
  readonly log: EventLog;
  readonly models: Models;
  readonly processes: Processes;
  readonly keys: InstanceKeys;
  readonly logger: Logger;
}

interface ForgetParts {
  readonly log: EventLog;
  readonly decisions: Decisions;
  readonly processes: Processes;
  readonly keys: InstanceKeys;
}

/** What keeps an instance in order: blobs that nothing names are removed; processes read the model catalogue again, and forget what was erased, together (undefined for one that is alone). */
@Module({
  providers: [
    BlobSweep,
    provideWith(
      CatalogueReloads,
      ({ processes, keys, ...parts }: ReloadParts) =>
        processes.alone ? undefined : new CatalogueReloads({ ...parts, after: keys.head }),
      { log: EVENT_LOG, models: Models, processes: Processes, keys: INSTANCE_KEYS, logger: LOGGER },
    ),
    provideWith(
      ForgetErased,
      ({ processes, keys, ...parts }: ForgetParts) =>
        processes.alone ? undefined : new ForgetErased({ ...parts, after: keys.head }),
      { log: EVENT_LOG, decisions: Decisions, processes: Processes, keys: INSTANCE_KEYS },
    ),
  ],
  exports: [BlobSweep, CatalogueReloads, ForgetErased],
})
export class MaintenanceModule {}
