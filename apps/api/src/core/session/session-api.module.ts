import { AccessModule } from '@app/access';
import { Module } from '@nestjs/common';
import { SessionController } from './session.controller';

/** Signing in. */
@Module({ imports: [AccessModule], controllers: [SessionController] })
export class SessionApiModule {}
