import { BLOBS, type Blobs, discardBodies, type PutBody, UnusedKeys } from '@app/blobs';
import { Decisions, IDS, type Ids } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { skillStream } from './skill-bodies';
import { skillDecider } from './skill.decider';

/** An upload that waits to be read. `skillId` is nobody's: its key is of this upload alone. */
export interface StoredUpload extends PutBody {
  readonly skillId: string;
}

/** Stores uploads as they come, encrypted, so that none is held in memory before it is whole. What a process leaves behind that dies is removed with all that no event names. */
@Injectable()
export class StoredUploads {
  constructor(
    @Inject(BLOBS) private readonly blobs: Pick<Blobs, 'put' | 'get' | 'remove'>,
    @Inject(IDS) private readonly ids: Ids,
    private readonly decisions: Decisions,
    private readonly keys: UnusedKeys,
  ) {}

  /** Stores a body of a user. If it throws, nothing is left behind. */
  async store(userId: string, body: AsyncIterable<Buffer>): Promise<StoredUpload> {
    const skillId = this.ids.next();
    try {
      return { skillId, ...(await this.blobs.put(skillStream(skillId), body, { userId })) };
    } catch (error) {
      await this.keys.destroy(this.decisions, skillDecider, [skillId]);
      throw error;
    }
  }

  /** Its bytes; undefined where its user was deleted meanwhile. */
  read({ skillId, name }: StoredUpload): Promise<Buffer | undefined> {
    return this.blobs.get(skillStream(skillId), name);
  }

  /** Removes them, and their key. */
  async remove({ skillId, name }: StoredUpload): Promise<void> {
    await this.keys.destroy(this.decisions, skillDecider, [skillId]);
    await discardBodies(this.blobs, [name]);
  }
}
