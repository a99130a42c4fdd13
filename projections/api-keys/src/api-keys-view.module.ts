import { Module } from '@nestjs/common';
import { apiKeys } from './api-keys.projection';
import { GetApiKeyHandler } from './queries/get-api-key';
import { ListApiKeysHandler } from './queries/list-api-keys';

/** The view `api-keys`. */
@Module({ providers: [GetApiKeyHandler, ListApiKeysHandler] })
export class ApiKeysViewModule {
  static readonly projections = [apiKeys];
}
