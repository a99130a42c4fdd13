import {
  Answerer,
  type ConversationDeletionParts,
  deleteConversations,
  History,
  type Retriever,
  Turns,
} from '@app/conversations';
import type { Retrieval } from '@app/knowledge';
import type { Policy } from '@app/projecting';
import { Claims } from '@app/coordination';
import type { ReadStore, StoredRow } from '@app/read-store';
import type { Metering } from '@app/spending';
import { conversations } from '@projections/conversations';
import { type DocumentRow, documents } from '@projections/documents';
import { completeKeys } from './complete-rows';
import type { WorkParts } from './knowledge-work';
import type { Finisher } from './unfinished-work';

/** A process that has not been heard of for this long is dead, and so are its answers. */
const CLAIM_MS = 5_000;
/** Passages that an answer is made from. */
const PASSAGES_IN_PROMPT = 8;

export interface ConversationWork {
  readonly turns: Turns;
  readonly policies: readonly Policy[];
  readonly unfinished: Finisher;
}

/** What works on conversations: answers, and the reactions to deletions. */
export const conversationWork = (
  parts: WorkParts & { readonly retrieval: Retrieval; readonly currency: string; readonly metering: Metering },
): ConversationWork => {
  const { stores, projecting, models, ids, clock, logger, retrieval, currency, metering } = parts;
  const { decisions, log, codec, readStore, coordination } = stores;
  const turns = new Turns({
    decisions,
    clock,
    history: new History(log, codec),
    answerer: new Answerer(models, retrieverOver(retrieval, readStore), currency, metering, logger),
    claims: new Claims(coordination, clock, ids.next(), CLAIM_MS),
    logger,
  });
  const keys = completeKeys(projecting, readStore);
  const conversationsOf: ConversationDeletionParts['conversationsOf'] = (owner, position) =>
    keys(
      conversations.name,
      { ...owner },
      [
        ...('userId' in owner ? [{ field: 'agentId', order: 'asc' as const }] : []),
        { field: 'createdAt', order: 'desc' },
      ],
      position,
    );
  return {
    turns,
    policies: [deleteConversations({ decisions, log, clock, conversationsOf })],
    unfinished: { name: 'turns', finish: () => turns.closeAbandonedTurns() },
  };
};

/** Knowledge as conversations ask for it: passages with the media type of their document. */
const retrieverOver = (retrieval: Retrieval, store: Pick<ReadStore, 'getMany'>): Retriever => ({
  retrieve: async (agent, text, asking) => {
    const hits = await retrieval.search(agent, { text, limit: PASSAGES_IN_PROMPT, mode: 'hybrid' }, asking);
    const rows = (await store.getMany(documents.name, [
      ...new Set(hits.map(({ documentId }) => documentId)),
    ])) as readonly StoredRow<DocumentRow>[];
    const types = new Map(rows.map(({ key, row }) => [key, row.mimeType]));
    // A document that is deleted in this moment has no row any more: it is not quoted.
    return hits.flatMap((hit) => {
      const mediaType = types.get(hit.documentId);
      return mediaType === undefined ? [] : [{ ...hit, mediaType }];
    });
  },
});
