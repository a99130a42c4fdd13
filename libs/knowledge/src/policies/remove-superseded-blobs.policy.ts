import { BLOBS, type Blobs } from '@app/blobs';
import type { RecordedEvent } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import type { DocumentEvent } from '../document/document.events';

/** Removes bodies that newer content or passages replaced, once those are served. Erasure removes what a deletion leaves. */
@PolicyHandler()
export class RemoveSupersededBlobs implements Policy {
  readonly name = 'remove-superseded-blobs';
  readonly types = ['DocumentReady', 'DocumentReindexed', 'DocumentReindexDiscarded'];

  constructor(@Inject(BLOBS) private readonly blobs: Blobs) {}

  async react(event: RecordedEvent): Promise<void> {
    const { data } = event as RecordedEvent & Extract<DocumentEvent, { data: { superseded: string[] } }>;
    if (data.superseded.length > 0) await this.blobs.remove(data.superseded);
  }
}
