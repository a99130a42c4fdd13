import { AccessModule } from '@app/access';
import { SkillsModule } from '@app/skills';
import { Module } from '@nestjs/common';
import { InstallationsController } from './installations.controller';
import { MarketplaceController } from './marketplace.controller';
import { SkillAccess } from './skill-access';
import { SkillCreation } from './skill-creation';
import { SkillDraftsController } from './skill-drafts.controller';
import { SkillImportController } from './skill-import.controller';
import { SkillTransfers } from './skill-transfers';
import { SkillVersionsController } from './skill-versions.controller';
import { SkillsController } from './skills.controller';

/** Skills and their versions. */
@Module({
  imports: [AccessModule, SkillsModule],
  controllers: [
    SkillImportController,
    SkillsController,
    SkillDraftsController,
    SkillVersionsController,
    MarketplaceController,
    InstallationsController,
  ],
  providers: [SkillAccess, SkillCreation, SkillTransfers],
})
export class SkillsApiModule {}
