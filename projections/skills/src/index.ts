export * from './queries/list-skills';
export { SkillsViewModule } from './skills-view.module';
export * from './skills.projection';
