export { GetMember, ListMembers, type Member } from './queries/list-members';
export * from './queries/spaces-of-user';
export { SpaceMembersViewModule } from './space-members-view.module';
export * from './space-members.projection';
