export { ListSkills } from './queries/list-skills';
export { SkillsViewModule } from './skills-view.module';
export { skillRow, type SkillRow, placeOfSkills, skills } from './skills.projection';
