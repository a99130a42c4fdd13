import { AccessModule } from '@app/access';
import { Module } from '@nestjs/common';
import { ApiKeysController } from './api-keys.controller';

/** API keys. */
@Module({ imports: [AccessModule], controllers: [ApiKeysController] })
export class ApiKeysApiModule {}
