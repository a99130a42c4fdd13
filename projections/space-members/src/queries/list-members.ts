import { reject, type Sensitive } from '@app/kernel';
import { findPage, type PageRequest, READ_STORE, type ReadStore, type RowPage, type StoredRow } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type UserRow, users } from '@projections/users';
import { memberKey, type SpaceMemberRow, spaceMembers } from '../space-members.projection';

/** A member as the wire shows them. */
export interface Member {
  readonly userId: string;
  readonly name: Sensitive<string> | null;
  readonly role: SpaceMemberRow['role'];
}

/** The members of a Space, newest first. */
export class ListMembers extends Query<{ readonly members: readonly Member[]; readonly next: RowPage['next'] }> {
  constructor(
    readonly spaceId: string,
    readonly page: PageRequest,
  ) {
    super();
  }
}

@QueryHandler(ListMembers)
export class ListMembersHandler implements IQueryHandler<ListMembers> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({
    spaceId,
    page,
  }: ListMembers): Promise<{ readonly members: readonly Member[]; readonly next: RowPage['next'] }> {
    const { rows, next } = await findPage<SpaceMemberRow>(
      this.store,
      spaceMembers.name,
      { where: { spaceId }, orderBy: [{ field: 'createdAt', order: 'desc' }] },
      page,
    );
    return { members: await named(this.store, rows), next };
  }
}

/** One member of a Space; rejects with `not_found`. */
export class GetMember extends Query<Member> {
  constructor(
    readonly spaceId: string,
    readonly userId: string,
  ) {
    super();
  }
}

@QueryHandler(GetMember)
export class GetMemberHandler implements IQueryHandler<GetMember> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ spaceId, userId }: GetMember): Promise<Member> {
    const found = (await this.store.get(spaceMembers.name, memberKey(spaceId, userId))) as
      StoredRow<SpaceMemberRow> | undefined;
    const [member] = found === undefined ? [] : await named(this.store, [found]);
    return member ?? reject('not_found', { kind: 'member', id: userId });
  }
}

const named = async (store: ReadStore, rows: readonly StoredRow<SpaceMemberRow>[]): Promise<readonly Member[]> => {
  const found = (await store.getMany(
    users.name,
    rows.map(({ row }) => row.userId),
  )) as readonly StoredRow<UserRow>[];
  const names = new Map(found.map(({ row }) => [row.id, row.name]));
  return rows.map(({ row: { userId, role } }) => ({ userId, name: names.get(userId) ?? null, role }));
};
