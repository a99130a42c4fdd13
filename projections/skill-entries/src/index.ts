export { entryRow, skillEntries } from './entries.projection';
export { SkillEntriesViewModule } from './skill-entries-view.module';
export { ListEntries } from './queries/list-entries';
