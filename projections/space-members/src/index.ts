export { type Member, ListMembers, GetMember } from './queries/list-members';
export { spacesOfUser } from './queries/spaces-of-user';
export { SpaceMembersViewModule } from './space-members-view.module';
