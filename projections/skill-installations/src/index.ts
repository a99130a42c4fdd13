export { installationRow, skillInstallations } from './installations.projection';
export { SkillInstallationsViewModule } from './skill-installations-view.module';
export { ListInstallations } from './queries/list-installations';
