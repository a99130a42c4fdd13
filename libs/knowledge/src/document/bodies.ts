import { createHash } from 'node:crypto';
import { BLOBS, type Blobs, discardBodies, UnusedKeys } from '@app/blobs';
import { Decisions, isUnavailable, streamOf } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { documentDecider } from './document.decider';

/** A body in the blob store that no event names yet. */
export interface StoredBody {
  readonly file: string;
  readonly sizeBytes: number;
  /** SHA-256 in hex. */
  readonly contentHash: string;
}

/** Bodies of new documents: stored first, encrypted under the document's key, then named by an event. */
@Injectable()
export class Bodies {
  constructor(
    @Inject(BLOBS) private readonly blobs: Pick<Blobs, 'put' | 'remove'>,
    private readonly decisions: Decisions,
    private readonly keys: UnusedKeys,
  ) {}

  /** Stores a body, which may stream, for a document that is or will be in a Space (null: global). */
  async store(documentId: string, spaceId: string | null, body: Buffer | AsyncIterable<Buffer>): Promise<StoredBody> {
    const digest = createHash('sha256');
    const read = Buffer.isBuffer(body) ? hashedWhole(body, digest) : hashedThrough(body, digest);
    const { name: file, size: sizeBytes } = await this.blobs.put(
      streamOf(documentDecider.category, documentId),
      read,
      spaceId === null ? {} : { spaceId },
    );
    return { file, sizeBytes, contentHash: digest.digest('hex') };
  }

  /** Removes unused bodies. If a failed write leaves that open, they stay: an event may name them. */
  async discard(bodies: readonly StoredBody[], error?: unknown): Promise<void> {
    if (isUnavailable(error) && error.outcome === 'unknown') return;
    await discardBodies(
      this.blobs,
      bodies.map(({ file }) => file),
    );
  }

  /**
   * Destroys the keys of the documents of a rejected upload; their ids belong to this request alone. Documents that may
   * exist keep their keys.
   */
  async destroyUnused(documentIds: readonly string[], error: unknown): Promise<void> {
    if (isUnavailable(error) && error.outcome === 'unknown') return;
    await this.keys.destroy(this.decisions, documentDecider, documentIds);
  }
}

type Digest = ReturnType<typeof createHash>;

const hashedWhole = (body: Buffer, digest: Digest): Buffer => {
  digest.update(body);
  return body;
};

async function* hashedThrough(body: AsyncIterable<Buffer>, digest: Digest): AsyncIterable<Buffer> {
  for await (const piece of body) {
    digest.update(piece);
    yield piece;
  }
}
