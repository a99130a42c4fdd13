import { BLOBS, type Blobs } from '@app/blobs';
import type { RecordedEvent } from '@app/kernel';
import { CompleteViews, type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import type { DocumentEvent } from '../document/document.events';
import { DOCUMENTS, PASSAGES } from '../search/retrieval';

type Replacing = RecordedEvent & Extract<DocumentEvent, { data: { superseded: string[] } }>;

/** Removes bodies that newer content or passages replaced, once those are served. Erasure removes what a deletion leaves. */
@PolicyHandler()
export class RemoveSupersededBlobs implements Policy {
  readonly name = 'remove-superseded-blobs';
  readonly types = [
    'DocumentReady',
    'DocumentChunkEdited',
    'DocumentRetitled',
    'DocumentReindexed',
    'DocumentReindexDiscarded',
  ];

  constructor(
    @Inject(BLOBS) private readonly blobs: Pick<Blobs, 'remove'>,
    @Inject(CompleteViews) private readonly views: Pick<CompleteViews, 'reached'>,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const { type, data, context } = event as Replacing;
    // Before DocumentReady the index has taken the new ones.
    if (type === 'DocumentChunkEdited' || type === 'DocumentRetitled')
      for (const view of [PASSAGES, DOCUMENTS]) await this.views.reached(view, context.position);
    await this.blobs.remove(data.superseded);
  }
}
