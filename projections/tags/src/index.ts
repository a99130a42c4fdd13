export * from './queries/get-tag';
export * from './queries/list-tags';
export * from './queries/tags-by-id';
export { TagsViewModule } from './tags-view.module';
export * from './tags.projection';
