export * from './installations.projection';
export { InstallationsViewModule } from './installations-view.module';
export * from './queries/list-installations';
