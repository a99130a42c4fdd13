import { Module } from '@nestjs/common';
import { tags } from './tags.projection';
import { GetTagHandler } from './queries/get-tag';
import { ListTagsHandler } from './queries/list-tags';
import { TagsByIdHandler } from './queries/tags-by-id';

/** The view `tags`. */
@Module({ providers: [GetTagHandler, ListTagsHandler, TagsByIdHandler] })
export class TagsViewModule {
  static readonly projections = [tags];
}
