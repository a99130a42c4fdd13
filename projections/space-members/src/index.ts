import { GetMemberHandler, ListMembersHandler } from './queries/list-members';

export { GetMember, ListMembers, type Member } from './queries/list-members';
export * from './queries/spaces-of-user';
export * from './space-members.projection';

export const spaceMemberQueryHandlers = [GetMemberHandler, ListMembersHandler];
