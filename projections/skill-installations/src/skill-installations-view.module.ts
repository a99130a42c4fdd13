import { CompleteViews } from '@app/projecting';
import { INSTALLATIONS_OF, type SkillsOf } from '@app/skills';
import { Module } from '@nestjs/common';
import { skillInstallations } from './installations.projection';
import { ListInstallationsHandler } from './queries/list-installations';

const lookUp =
  (views: CompleteViews): SkillsOf =>
  (owner, position) =>
    views.keys(skillInstallations.name, { ...owner }, [{ field: 'createdAt', order: 'desc' }], position);

/** The view `skill-installations`. */
@Module({
  providers: [ListInstallationsHandler, { provide: INSTALLATIONS_OF, inject: [CompleteViews], useFactory: lookUp }],
  exports: [INSTALLATIONS_OF],
})
export class SkillInstallationsViewModule {
  static readonly projections = [skillInstallations];
}
