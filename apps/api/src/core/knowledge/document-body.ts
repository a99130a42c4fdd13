import { type Blobs, BLOBS, type OpenBody, openWhileThere } from '@app/blobs';
import { reject, streamOf } from '@app/kernel';
import { documentDecider } from '@app/knowledge';
import { Inject, Injectable } from '@nestjs/common';

/** Opens what is stored of documents, for answers that may be read slowly. */
@Injectable()
export class DocumentBodies {
  constructor(@Inject(BLOBS) private readonly blobs: Blobs) {}

  /** Rejects with `not_found` where it is gone, also while it is read. */
  open(documentId: string, name: string): Promise<OpenBody> {
    const stream = streamOf(documentDecider.category, documentId);
    return openWhileThere(this.blobs, stream, name, () => reject('not_found', { kind: 'content', id: documentId }));
  }
}
