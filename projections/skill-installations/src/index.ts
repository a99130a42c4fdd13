export * from './installations.projection';
export { SkillInstallationsViewModule } from './skill-installations-view.module';
export * from './queries/list-installations';
