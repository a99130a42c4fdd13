export * from './queries/get-space';
export * from './queries/list-spaces';
export { SpacesViewModule } from './spaces-view.module';
export * from './spaces.projection';
