import { Decisions, reject } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import { tagRegistryDecider } from './tag-registry.decider';

/** The tags of Spaces, from the log: a tag of another Space can be attached to nothing. */
@Injectable()
export class KnownTags {
  constructor(private readonly decisions: Decisions) {}

  /** Rejects `not_found` when one of the tags is not of this Space; `field` is where the caller named them. */
  async assert(spaceId: string, tagIds: readonly string[], field = 'tagIds'): Promise<void> {
    if (tagIds.length === 0) return;
    const [unknown] = await this.ofOthers(spaceId, tagIds);
    if (unknown !== undefined) reject('not_found', { kind: 'tag', id: unknown, field });
  }

  /** Those that are not of this Space. Global documents carry such tags. */
  async ofOthers(spaceId: string, tagIds: readonly string[]): Promise<readonly string[]> {
    const known = await this.of(spaceId);
    return tagIds.filter((tagId) => !known.has(tagId));
  }

  /** Ids of the tags of a Space. */
  async of(spaceId: string): Promise<ReadonlySet<string>> {
    const { state } = await this.decisions.load(tagRegistryDecider, spaceId);
    return new Set(state.tags.keys());
  }
}
