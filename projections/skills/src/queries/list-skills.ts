import { isErased, normalisedName } from '@app/kernel';
import {
  matchingPage,
  newestFirst,
  newestOf,
  type PageRequest,
  READ_STORE,
  type ReadStore,
  type RowPage,
  type StoredRow,
} from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type SkillRow, skills } from '../skills.projection';

export interface SkillFilter {
  readonly source?: SkillRow['source'] | undefined;
  readonly status?: SkillRow['status'] | undefined;
  /** Text that the name, the slug or the description that is shown contains, whatever its case. */
  readonly q?: string | undefined;
  /** Leaves out what was never published. */
  readonly publishedOnly?: boolean;
}

/** The Skills of places, newest first, among them rows at hand. */
export class ListSkills extends Query<RowPage<SkillRow>> {
  constructor(
    readonly places: readonly string[],
    readonly filter: SkillFilter,
    readonly page: PageRequest,
    readonly atHand: readonly StoredRow<SkillRow>[] = [],
  ) {
    super();
  }
}

@QueryHandler(ListSkills)
export class ListSkillsHandler implements IQueryHandler<ListSkills> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({
    places,
    filter: { source, status, q, publishedOnly = false },
    page,
    atHand,
  }: ListSkills): Promise<RowPage<SkillRow>> {
    const lists = places.map((place) => ({ place }));
    const wanted = q === undefined ? undefined : normalisedName(q);
    if (source === undefined && status === undefined && wanted === undefined && !publishedOnly)
      return newestOf<SkillRow>(this.store, skills.name, lists, page, atHand);
    const matches = (row: SkillRow): boolean =>
      (source === undefined || row.source === source) &&
      (status === undefined || row.status === status) &&
      !(publishedOnly && row.status === 'draft') &&
      (wanted === undefined || textsOf(row).some((text) => !isErased(text) && normalisedName(text).includes(wanted)));
    return withAtHand(
      await matchingPage<SkillRow>(this.store, skills.name, lists, matches, page),
      atHand.filter(({ row }) => matches(row)),
      page,
    );
  }
}

const textsOf = ({ name, slug, description, draftDescription }: SkillRow): readonly string[] => [
  name,
  slug,
  description ?? draftDescription ?? '',
];

/** A page with those rows at hand that stand in it. */
const withAtHand = (
  page: RowPage<SkillRow>,
  atHand: readonly StoredRow<SkillRow>[],
  { limit, after }: PageRequest,
): RowPage<SkillRow> => {
  const at = ({ values, key }: NonNullable<PageRequest['after']>) => ({ key, row: { createdAt: String(values[0]) } });
  const { next } = page;
  const fitting = atHand.filter(
    (row) =>
      (after === undefined || newestFirst(row, at(after)) > 0) && (next === null || newestFirst(row, at(next)) < 0),
  );
  const rows = [...page.rows, ...fitting].toSorted(newestFirst);
  const last = rows[limit - 1];
  if (rows.length <= limit || last === undefined) return { rows, next };
  return { rows: rows.slice(0, limit), next: { values: [last.row.createdAt], key: last.key } };
};
