import type { JsonText } from '@app/http';
import type { SearchingAgent } from '@app/knowledge';
import { type DocumentRow } from '@projections/documents';
import { TagsById } from '@projections/tags';
import { Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { documentView } from './documents-schemas';

/** Shows documents with their tags: to an Agent those of its own Space, since global documents carry tags of every Space. */
@Injectable()
export class DocumentPresenter {
  constructor(private readonly queries: QueryBus) {}

  async show({ spaceId }: SearchingAgent, rows: readonly DocumentRow[]): Promise<readonly JsonText[]> {
    const tags = await this.queries.execute(new TagsById(rows.flatMap(({ tagIds }) => tagIds)));
    return rows.map((row) => {
      const own = row.tagIds.flatMap((tagId) => tags.get(tagId) ?? []).filter((tag) => tag.spaceId === spaceId);
      return documentView(row, { tags: own.map(({ id, name, color }) => ({ id, name, color })) });
    });
  }

  async one(agent: SearchingAgent, row: DocumentRow): Promise<JsonText> {
    return (await this.show(agent, [row]))[0] as JsonText;
  }
}
