export { ApiKeysViewModule } from './api-keys-view.module';
export * from './api-keys.projection';
export * from './queries/get-api-key';
export * from './queries/list-api-keys';
