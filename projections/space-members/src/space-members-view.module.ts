import { CompleteViews } from '@app/projecting';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { SPACES_OF_USER, type SpacesOfUser } from '@app/spaces';
import { Module } from '@nestjs/common';
import { GetMemberHandler, ListMembersHandler } from './queries/list-members';
import { spacesOfUser } from './queries/spaces-of-user';
import { spaceMembers } from './space-members.projection';

const lookUp =
  (views: CompleteViews, store: ReadStore): SpacesOfUser =>
  async (userId, position) => {
    await views.reached(spaceMembers.name, position);
    return spacesOfUser(store, userId);
  };

/** The view `space-members`. */
@Module({
  providers: [
    GetMemberHandler,
    ListMembersHandler,
    { provide: SPACES_OF_USER, inject: [CompleteViews, READ_STORE], useFactory: lookUp },
  ],
  exports: [SPACES_OF_USER],
})
export class SpaceMembersViewModule {
  static readonly projections = [spaceMembers];
}
