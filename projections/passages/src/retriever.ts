import type { Retriever } from '@app/conversations';
import { Retrieval } from '@app/knowledge';
import { READ_STORE, type ReadStore, type StoredRow } from '@app/read-store';
import { Inject, Injectable } from '@nestjs/common';
import { type DocumentRow, documents } from '@projections/documents';

/** Passages that an answer is made from. */
const PASSAGES_IN_PROMPT = 8;

/** Knowledge as conversations ask for it: passages with the media type of their document. */
@Injectable()
export class PassageRetriever implements Retriever {
  constructor(
    private readonly retrieval: Retrieval,
    @Inject(READ_STORE) private readonly store: Pick<ReadStore, 'getMany'>,
  ) {}

  readonly retrieve: Retriever['retrieve'] = async (agent, text, asking) => {
    const hits = await this.retrieval.search(agent, { text, limit: PASSAGES_IN_PROMPT, mode: 'hybrid' }, asking);
    const rows = (await this.store.getMany(documents.name, [
      ...new Set(hits.map(({ documentId }) => documentId)),
    ])) as readonly StoredRow<DocumentRow>[];
    const types = new Map(rows.map(({ key, row }) => [key, row.mimeType]));
    // A document that is deleted in this moment has no row any more: it is not quoted.
    return hits.flatMap((hit) => {
      const mediaType = types.get(hit.documentId);
      return mediaType === undefined ? [] : [{ ...hit, mediaType }];
    });
  };
}
