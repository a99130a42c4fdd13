import { IngestionWorker } from '@app/knowledge';
import { UnfinishedWork } from '@app/projecting';
import { Injectable } from '@nestjs/common';
import { BlobSweep } from '../blob-sweep';
import type { Role } from '../lifecycle';

/** Ingests documents, removes bodies that were stored for none, and finishes what requests left unfinished. */
@Injectable()
export class Worker implements Role {
  constructor(
    private readonly ingestion: IngestionWorker,
    private readonly blobSweep: BlobSweep,
    private readonly unfinished: UnfinishedWork,
  ) {}

  async start(): Promise<void> {
    this.ingestion.start();
    this.blobSweep.start();
    this.unfinished.start();
  }

  async stop(): Promise<void> {
    this.blobSweep.stop();
    await this.unfinished.stop();
    await this.ingestion.stop();
  }
}
