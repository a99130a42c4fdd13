export * from './entries.projection';
export { SkillEntriesViewModule } from './skill-entries-view.module';
export * from './queries/list-entries';
