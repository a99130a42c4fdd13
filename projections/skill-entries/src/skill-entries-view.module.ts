import { Module } from '@nestjs/common';
import { skillEntries } from './entries.projection';
import { ListEntriesHandler } from './queries/list-entries';

/** The view `skill-entries`. */
@Module({ providers: [ListEntriesHandler] })
export class SkillEntriesViewModule {
  static readonly projections = [skillEntries];
}
