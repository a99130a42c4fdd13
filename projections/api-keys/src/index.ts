import { GetApiKeyHandler } from './queries/get-api-key';
import { ListApiKeysHandler } from './queries/list-api-keys';

export * from './api-keys.projection';
export * from './queries/get-api-key';
export * from './queries/list-api-keys';

export const apiKeyQueryHandlers = [GetApiKeyHandler, ListApiKeysHandler];
