import { GetTagHandler } from './queries/get-tag';
import { ListTagsHandler } from './queries/list-tags';
import { TagsByIdHandler } from './queries/tags-by-id';

export * from './queries/get-tag';
export * from './queries/list-tags';
export * from './queries/tags-by-id';
export * from './tags.projection';

export const tagQueryHandlers = [GetTagHandler, ListTagsHandler, TagsByIdHandler];
