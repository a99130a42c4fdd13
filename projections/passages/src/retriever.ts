import type { Retriever } from '@app/conversations';
import { PLACES, Retrieval } from '@app/knowledge';
import { Injectable } from '@nestjs/common';

/** Knowledge as conversations ask for it: what a search for the question finds. */
@Injectable()
export class PassageRetriever implements Retriever {
  constructor(private readonly retrieval: Retrieval) {}

  readonly retrieve: Retriever['retrieve'] = async (agent, text, asking) => {
    const { items: passages, degraded } = await this.retrieval.search(
      agent,
      { text, limit: PLACES, mode: 'hybrid' },
      asking,
    );
    return { passages, degraded };
  };
}
