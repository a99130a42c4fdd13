import { CompleteViews } from '@app/projecting';
import { SKILLS_OF, type SkillsOf } from '@app/skills';
import { Module } from '@nestjs/common';
import { ListSkillsHandler } from './queries/list-skills';
import { skills } from './skills.projection';

const lookUp =
  (views: CompleteViews): SkillsOf =>
  (owner, position) =>
    views.keys(skills.name, { ...owner }, [{ field: 'createdAt', order: 'desc' }], position);

/** The view `skills`. */
@Module({
  providers: [ListSkillsHandler, { provide: SKILLS_OF, inject: [CompleteViews], useFactory: lookUp }],
  exports: [SKILLS_OF],
})
export class SkillsViewModule {
  static readonly projections = [skills];
}
