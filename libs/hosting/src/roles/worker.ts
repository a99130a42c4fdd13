import { IngestionWorker, ReindexWorker, RetitleWorker } from '@app/knowledge';
import { UnfinishedWork } from '@app/projecting';
import { BuildWorker } from '@app/section-summaries';
import { Injectable } from '@nestjs/common';
import { BlobSweep } from '../blob-sweep';
import type { Role } from '../lifecycle';

/** Ingests and re-indexes documents, embeds them behind new titles, builds summary indexes, removes bodies that were stored for none, and finishes what requests left unfinished. */
@Injectable()
export class Worker implements Role {
  constructor(
    private readonly ingestion: IngestionWorker,
    private readonly builds: BuildWorker,
    private readonly reindex: ReindexWorker,
    private readonly retitle: RetitleWorker,
    private readonly blobSweep: BlobSweep,
    private readonly unfinished: UnfinishedWork,
  ) {}

  async start(): Promise<void> {
    this.ingestion.start();
    this.builds.start();
    this.reindex.start();
    this.retitle.start();
    this.blobSweep.start();
    await this.unfinished.start();
  }

  async stop(): Promise<void> {
    this.blobSweep.stop();
    await this.unfinished.stop();
    await Promise.all([this.ingestion.stop(), this.reindex.stop(), this.retitle.stop(), this.builds.stop()]);
  }
}
