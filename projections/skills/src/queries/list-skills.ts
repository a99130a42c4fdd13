import { isErased, normalisedName } from '@app/kernel';
import { matchingPage, newestOf, type PageRequest, READ_STORE, type ReadStore, type RowPage } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type SkillRow, skills } from '../skills.projection';

export interface SkillFilter {
  readonly source?: SkillRow['source'] | undefined;
  readonly status?: SkillRow['status'] | undefined;
  /** Text that the name contains, whatever its case. */
  readonly q?: string | undefined;
  /** Leaves out what was never published. */
  readonly publishedOnly?: boolean;
}

/** The Skills of places, newest first. */
export class ListSkills extends Query<RowPage<SkillRow>> {
  constructor(
    readonly places: readonly string[],
    readonly filter: SkillFilter,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListSkills)
export class ListSkillsHandler implements IQueryHandler<ListSkills> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  execute({
    places,
    filter: { source, status, q, publishedOnly = false },
    page,
  }: ListSkills): Promise<RowPage<SkillRow>> {
    const lists = places.map((place) => ({ place }));
    const wanted = q === undefined ? undefined : normalisedName(q);
    if (source === undefined && status === undefined && wanted === undefined && !publishedOnly)
      return newestOf<SkillRow>(this.store, skills.name, lists, page);
    const matches = (row: SkillRow): boolean =>
      (source === undefined || row.source === source) &&
      (status === undefined || row.status === status) &&
      !(publishedOnly && row.status === 'draft') &&
      (wanted === undefined || (!isErased(row.name) && normalisedName(row.name).includes(wanted)));
    return matchingPage<SkillRow>(this.store, skills.name, lists, matches, page);
  }
}
