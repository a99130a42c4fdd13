import { CONFIG, type Config, idOf, type RecordedEvent } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { BuildWorker } from '../building/build-worker';

/** Hands a build to the worker the moment it is started, where this process is one; others find it in the view. */
@PolicyHandler()
export class BuildStartedIndexes implements Policy {
  readonly name = 'build-started-indexes';
  readonly types = ['SummaryIndexBuildStarted'];

  constructor(
    @Inject(BuildWorker) private readonly worker: Pick<BuildWorker, 'offer'>,
    @Inject(CONFIG) private readonly config: Pick<Config, 'ROLES'>,
  ) {}

  async react({ context }: RecordedEvent): Promise<void> {
    if (this.config.ROLES.includes('worker')) this.worker.offer(idOf(context.stream));
  }
}
