import { CONFIG, type Config, reject } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { MAX_FILE_BYTES, type SkillFile } from '../archive';
import type { VersionLimits } from './skill.decider';

/** What a version of a Skill may take: `SKILL_MAX_FILES`, `SKILL_MAX_BYTES`, and what any file may. */
@Injectable()
export class SkillLimit {
  readonly ofVersion: VersionLimits;

  constructor(
    @Inject(CONFIG) { SKILL_MAX_FILES, SKILL_MAX_BYTES }: Pick<Config, 'SKILL_MAX_FILES' | 'SKILL_MAX_BYTES'>,
  ) {
    this.ofVersion = { files: SKILL_MAX_FILES, bytes: SKILL_MAX_BYTES };
  }

  /** Looked at before anything is stored. Rejects `too_large`. */
  assert(files: readonly Pick<SkillFile, 'sizeBytes'>[]): void {
    const large = files.find(({ sizeBytes }) => sizeBytes > MAX_FILE_BYTES);
    if (large !== undefined)
      reject('too_large', { reason: 'skill_file', bytes: large.sizeBytes, limit: MAX_FILE_BYTES });
    if (files.length > this.ofVersion.files)
      reject('too_large', { reason: 'skill_files', limit: this.ofVersion.files });
    const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (bytes > this.ofVersion.bytes)
      reject('too_large', { reason: 'skill_bytes', bytes, limit: this.ofVersion.bytes });
  }
}
