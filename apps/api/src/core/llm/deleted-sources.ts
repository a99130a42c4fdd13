import { Decisions } from '@app/kernel';
import { documentDecider } from '@app/knowledge';
import { memoryDecider } from '@app/memory';
import { entryDecider, skillDecider } from '@app/skills';
import { Injectable } from '@nestjs/common';

/** Tells which of an answer's sources are deleted, from their streams: a view may be behind. */
@Injectable()
export class DeletedSources {
  constructor(private readonly decisions: Decisions) {}

  documents(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return among(ids, async (id) => (await this.decisions.recall(documentDecider, id)).state.status === 'Deleted');
  }

  /** A memory that was applied was saved once: what is saved no more is gone. */
  memories(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return among(ids, async (id) => (await this.decisions.recall(memoryDecider, id)).state.status !== 'saved');
  }

  /** The versions of a Skill go with it. Those of an entry of the marketplace stay. */
  skills(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return among(
      ids,
      async (id) =>
        (await this.decisions.recall(skillDecider, id)).state.status !== 'present' &&
        (await this.decisions.recall(entryDecider, id)).state.status === 'absent',
    );
  }
}

const among = async (
  ids: readonly string[],
  isDeleted: (id: string) => Promise<boolean>,
): Promise<ReadonlySet<string>> => {
  const deleted = await Promise.all([...new Set(ids)].map(async (id) => ((await isDeleted(id)) ? [id] : [])));
  return new Set(deleted.flat());
};
