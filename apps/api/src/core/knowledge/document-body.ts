import { type Blobs, BLOBS, type OpenBody } from '@app/blobs';
import { reject, streamOf } from '@app/kernel';
import { documentDecider } from '@app/knowledge';
import { Inject, Injectable } from '@nestjs/common';

/** Opens what is stored of documents, for answers that may be read slowly. */
@Injectable()
export class DocumentBodies {
  constructor(@Inject(BLOBS) private readonly blobs: Blobs) {}

  /** Rejects with `not_found` where it is gone, also while it is read: a deletion looks like damage from here on, and is none. */
  async open(documentId: string, name: string): Promise<OpenBody> {
    const opened = await this.find(documentId, name);
    if (opened === undefined) return gone(documentId);
    return { ...opened, pieces: this.whileThere(opened.pieces, documentId, name) };
  }

  private async *whileThere(pieces: OpenBody['pieces'], documentId: string, name: string): AsyncGenerator<Buffer> {
    try {
      yield* pieces;
    } catch (error) {
      if ((await this.find(documentId, name)) === undefined) gone(documentId);
      throw error;
    }
  }

  private find(documentId: string, name: string): Promise<OpenBody | undefined> {
    return this.blobs.open(streamOf(documentDecider.category, documentId), name);
  }
}

const gone = (id: string): never => reject('not_found', { kind: 'content', id });
