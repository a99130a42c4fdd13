import { TAGS_THAT_EXIST, type TagsThatExist } from '@app/knowledge';
import { CompleteViews } from '@app/projecting';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Module } from '@nestjs/common';
import { tags } from './tags.projection';
import { GetTagHandler } from './queries/get-tag';
import { ListTagsHandler } from './queries/list-tags';
import { TagsByIdHandler } from './queries/tags-by-id';

const existing =
  (views: CompleteViews, store: Pick<ReadStore, 'getMany'>): TagsThatExist =>
  async (tagIds, position) => {
    await views.reached(tags.name, position);
    return new Set((await store.getMany(tags.name, tagIds)).map(({ key }) => key));
  };

/** The view `tags`. */
@Module({
  providers: [
    GetTagHandler,
    ListTagsHandler,
    TagsByIdHandler,
    { provide: TAGS_THAT_EXIST, inject: [CompleteViews, READ_STORE], useFactory: existing },
  ],
  exports: [TAGS_THAT_EXIST],
})
export class TagsViewModule {
  static readonly projections = [tags];
}
