import { ReservationsModule } from '@app/reservations';
import { Module } from '@nestjs/common';
import { DeletePromptsWithTheirSpace } from './policies/delete-prompts-with-their-space.policy';
import { ForgetMembersWhoAreGone } from './policies/forget-members-who-are-gone.policy';
import { KeepAPersonalSpaceForEachUser } from './policies/keep-a-personal-space-for-each-user.policy';
import { ReleaseNamesOfSpaces } from './policies/release-names-of-spaces.policy';
import { CreatePromptHandler } from './prompt/commands/create-prompt';
import { UpdatePromptHandler } from './prompt/commands/update-prompt';
import { DeletePromptHandler } from './prompt/commands/delete-prompt';
import { promptAggregate } from './prompt/prompt.aggregate';
import { UpdateSpaceHandler } from './space/commands/update-space';
import { CreatePersonalSpaceHandler } from './space/commands/create-personal-space';
import { CreateSpaceHandler } from './space/commands/create-space';
import { DeleteSpaceHandler } from './space/commands/delete-space';
import { RemoveMemberHandler } from './space/commands/remove-member';
import { SetMemberHandler } from './space/commands/set-member';
import { spaceAggregate } from './space/space.aggregate';

const commands = [
  CreatePromptHandler,
  UpdatePromptHandler,
  DeletePromptHandler,
  UpdateSpaceHandler,
  CreatePersonalSpaceHandler,
  CreateSpaceHandler,
  DeleteSpaceHandler,
  RemoveMemberHandler,
  SetMemberHandler,
];
const policies = [
  KeepAPersonalSpaceForEachUser,
  ForgetMembersWhoAreGone,
  ReleaseNamesOfSpaces,
  DeletePromptsWithTheirSpace,
];

/** Spaces, their members and their prompts. Views provide `PROMPTS_OF_SPACE` and `SPACES_OF_USER`. */
@Module({ imports: [ReservationsModule], providers: [...commands, ...policies] })
export class SpacesModule {
  static readonly aggregates = [spaceAggregate, promptAggregate];
}
