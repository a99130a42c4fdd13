import { type Clock, CLOCK, Decisions, idOf, isDomainError, reactionTo, type RecordedEvent, stepOf } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { documentDecider } from '../document/document.decider';
import type { DocumentEvent } from '../document/document.events';
import { DOCUMENTS_WITH_TAGS, type DocumentsWithTags, TAGS_THAT_EXIST, type TagsThatExist } from '../lookups';
import { tagRegistryDecider } from '../tags/tag-registry.decider';
import type { TagEvent } from '../tags/tag.events';

type Tagged = RecordedEvent & Extract<DocumentEvent, { type: 'DocumentAdded' | 'DocumentTagsChanged' }>;
type TagDeleted = RecordedEvent & Extract<TagEvent, { type: 'TagDeleted' }>;

/**
 * Detaches a deleted tag from its documents, and the tags of a deleted Space from the global ones. The view has the
 * documents that carried it before. If a concurrent request attaches it after the deletion, its own event is handled.
 */
@PolicyHandler()
export class DetachDeletedTags implements Policy {
  readonly name = 'detach-deleted-tags';
  readonly types = ['TagDeleted', 'SpaceDeleted', 'DocumentAdded', 'DocumentTagsChanged'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(DOCUMENTS_WITH_TAGS) private readonly documentsWith: DocumentsWithTags,
    @Inject(TAGS_THAT_EXIST) private readonly existing: TagsThatExist,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    if (event.type === 'TagDeleted') return this.detachAll(id, [(event as TagDeleted).data.tagId], event);
    if (event.type === 'SpaceDeleted') {
      const { state } = await this.decisions.load(tagRegistryDecider, id);
      return this.detachAll(null, [...state.tags.keys()], event);
    }
    const attached = attachedBy(event as Tagged);
    if (attached.length === 0) return undefined;
    const existing = await this.existing(attached, event.context.position);
    return this.detach(
      id,
      attached.filter((tagId) => !existing.has(tagId)),
      event,
    );
  }

  private async detachAll(spaceId: string | null, tagIds: readonly string[], event: RecordedEvent): Promise<void> {
    if (tagIds.length === 0) return;
    for (const documentId of await this.documentsWith(spaceId, tagIds, event.context.position))
      await this.detach(documentId, tagIds, event);
  }

  private async detach(documentId: string, tagIds: readonly string[], event: RecordedEvent): Promise<void> {
    const meta = reactionTo(event, this.name, this.clock.now());
    for (const tagId of tagIds) {
      try {
        const step = stepOf(meta, `${documentId}/${tagId}`);
        await this.decisions.transact(documentDecider, documentId, { type: 'DetachTag', tagId }, step);
      } catch (error) {
        // Deleted meanwhile, with its tags.
        if (!isDomainError(error, 'not_found')) throw error;
      }
    }
  }
}

const attachedBy = ({ type, data }: Tagged): readonly string[] =>
  type === 'DocumentAdded' ? data.tagIds : data.attached;
