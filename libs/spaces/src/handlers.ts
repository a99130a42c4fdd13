import { AddPromptHandler } from './prompt/commands/add-prompt';
import { ChangePromptHandler } from './prompt/commands/change-prompt';
import { DeletePromptHandler } from './prompt/commands/delete-prompt';
import { ChangeSpaceHandler } from './space/commands/change-space';
import { CreatePersonalSpaceHandler } from './space/commands/create-personal-space';
import { CreateSpaceHandler } from './space/commands/create-space';
import { DeleteSpaceHandler } from './space/commands/delete-space';
import { RemoveMemberHandler } from './space/commands/remove-member';
import { SetMemberHandler } from './space/commands/set-member';

/** Every command handler of the context. They need `Decisions` and `Reservations`. */
export const spaceHandlers = [
  AddPromptHandler,
  ChangePromptHandler,
  DeletePromptHandler,
  ChangeSpaceHandler,
  CreatePersonalSpaceHandler,
  CreateSpaceHandler,
  DeleteSpaceHandler,
  RemoveMemberHandler,
  SetMemberHandler,
];
