export { GetTag } from './queries/get-tag';
export { ListTags } from './queries/list-tags';
export { TagsById } from './queries/tags-by-id';
export { TagsViewModule } from './tags-view.module';
export { tagRow, tags } from './tags.projection';
