export { ApiKeysViewModule } from './api-keys-view.module';
export { apiKeyRow, apiKeys } from './api-keys.projection';
export { GetApiKey } from './queries/get-api-key';
export { ListApiKeys } from './queries/list-api-keys';
