import { defineAggregate, namedIn, ownKey, ownStream, sharedStream } from '@app/kernel';
import { documentDecider } from './document/document.decider';
import { documentEvents } from './document/document.events';
import { documentIntegrations } from './document/document.integrations';
import { reindexDecider } from './reindex/reindex.decider';
import { reindexEvents } from './reindex/reindex.events';
import { tagRegistryDecider } from './tags/tag-registry.decider';
import { tagEvents } from './tags/tag.events';

const documentAggregate = defineAggregate(documentDecider, documentEvents, {
  erasure: {
    by: { DocumentDeleted: ownKey },
    again: (decisions, id, meta) => decisions.transact(documentDecider, id, { type: 'Delete' }, meta),
  },
  integrations: documentIntegrations,
  kinds: { document: ownStream('document', namedIn('tags', 'spaceId')) },
});

/**
 * The tags of a Space share one key and are erased with it; a tag that was created after the Space's deletion is erased
 * by its own deletion.
 */
const tagsAggregate = defineAggregate(tagRegistryDecider, tagEvents, {
  erasure: {
    by: { TagDeleted: (event) => (event.data.withSpace === true ? ownKey(event) : undefined) },
    again: 'withOwner',
  },
  kinds: { tag: sharedStream(namedIn('space', 'spaceId')) },
});

/** Jobs: ids and numbers alone. What they make belongs to the documents. */
const reindexAggregate = defineAggregate(reindexDecider, reindexEvents);

export const knowledgeAggregates = [documentAggregate, tagsAggregate, reindexAggregate];
