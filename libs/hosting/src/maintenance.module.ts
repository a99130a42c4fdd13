import { Processes } from '@app/coordination';
import { ForgetErased } from '@app/erasure';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import { Decisions, LOGGER, type Logger, provideWith } from '@app/kernel';
import { Models } from '@app/models';
import { Module } from '@nestjs/common';
import { BlobSweep } from './blob-sweep';
import { CatalogueReloads } from './catalogue-reloads';
import { INSTANCE_KEYS, type InstanceKeys } from './instance-keys';
import { LOG_FOLLOWERS, type LogFollower } from './lifecycle';

interface FollowerParts {
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly models: Pick<Models, 'reload'>;
  readonly decisions: Pick<Decisions, 'forget'>;
  readonly processes: Pick<Processes, 'alone'>;
  readonly keys: Pick<InstanceKeys, 'head'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** What a process does that others ask for in the log: nothing where it is alone. */
export const followersOf = ({
  log,
  models,
  decisions,
  processes,
  keys,
  logger,
}: FollowerParts): readonly LogFollower[] => {
  const after = keys.head;
  return processes.alone
    ? []
    : [new CatalogueReloads({ log, models, after, logger }), new ForgetErased({ log, decisions, after })];
};

/** What keeps an instance in order: blobs that nothing names are removed; processes read the model catalogue again, and forget what was erased, together. */
@Module({
  providers: [
    BlobSweep,
    provideWith(LOG_FOLLOWERS, followersOf, {
      log: EVENT_LOG,
      models: Models,
      decisions: Decisions,
      processes: Processes,
      keys: INSTANCE_KEYS,
      logger: LOGGER,
    }),
  ],
  exports: [BlobSweep, LOG_FOLLOWERS],
})
export class MaintenanceModule {}
