import { AccessModule } from '@app/access';
import { Module } from '@nestjs/common';
import { UsersController } from './users.controller';

/** Users. */
@Module({ imports: [AccessModule], controllers: [UsersController] })
export class UsersApiModule {}
