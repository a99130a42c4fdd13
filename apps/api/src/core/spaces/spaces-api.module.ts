import { AccessModule } from '@app/access';
import { Module } from '@nestjs/common';
import { MembersController } from './members.controller';
import { PromptsController } from './prompts.controller';
import { SpacesController } from './spaces.controller';

/** Spaces, their members and their prompts. */
@Module({ imports: [AccessModule], controllers: [SpacesController, MembersController, PromptsController] })
export class SpacesApiModule {}
