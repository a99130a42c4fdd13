import { isErased } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import type { DocumentRow } from '../documents.projection';
import { servedRows } from './served-rows';

/** How many are named at most. */
const MOST = 100;

/** The ids of the other documents that have a document's name in its place, newest first, at most 100. */
export class SameName extends Query<readonly string[]> {
  constructor(readonly document: Pick<DocumentRow, 'id' | 'name' | 'place'>) {
    super();
  }
}

@QueryHandler(SameName)
export class SameNameHandler implements IQueryHandler<SameName> {
  constructor(@Inject(READ_STORE) private readonly store: Pick<ReadStore, 'find'>) {}

  async execute({ document: { id, name, place } }: SameName): Promise<readonly string[]> {
    if (isErased(name)) return [];
    const orderBy = [{ field: 'createdAt', order: 'desc' as const }];
    const rows = await servedRows(this.store, { where: { place, name }, orderBy, limit: MOST + 1 });
    return rows
      .map(({ key }) => key)
      .filter((key) => key !== id)
      .slice(0, MOST);
  }
}
