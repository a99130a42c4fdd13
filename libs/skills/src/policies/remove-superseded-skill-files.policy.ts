import { BLOBS, type Blobs } from '@app/blobs';
import type { RecordedEvent } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import type { SkillEvent } from '../skill/skill.events';

/** Removes bodies of a draft that no version has any more. Erasure removes what a deletion leaves. */
@PolicyHandler()
export class RemoveSupersededSkillFiles implements Policy {
  readonly name = 'remove-superseded-skill-files';
  readonly types = ['SkillDraftSaved', 'SkillDraftDiscarded'];

  constructor(@Inject(BLOBS) private readonly blobs: Blobs) {}

  async react(recorded: RecordedEvent): Promise<void> {
    const { data } = recorded as RecordedEvent & Extract<SkillEvent, { data: { superseded: string[] } }>;
    if (data.superseded.length > 0) await this.blobs.remove(data.superseded);
  }
}
