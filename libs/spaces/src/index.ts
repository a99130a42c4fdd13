export { DeletePromptsWithTheirSpace } from './policies/delete-prompts-with-their-space.policy';
export { ForgetMembersWhoAreGone } from './policies/forget-members-who-are-gone.policy';
export { KeepAPersonalSpaceForEachUser } from './policies/keep-a-personal-space-for-each-user.policy';
export { ReleaseNamesOfSpaces } from './policies/release-names-of-spaces.policy';
export { CreatePrompt } from './prompt/commands/create-prompt';
export { UpdatePrompt } from './prompt/commands/update-prompt';
export { DeletePrompt } from './prompt/commands/delete-prompt';
export { promptDecider } from './prompt/prompt.decider';
export { promptText, promptTags, promptEvents, type PromptEvent } from './prompt/prompt.events';
export { UpdateSpace, UpdateSpaceHandler } from './space/commands/update-space';
export {
  personalSpaceOf,
  CreatePersonalSpace,
  CreatePersonalSpaceHandler,
} from './space/commands/create-personal-space';
export { CreateSpace, CreateSpaceHandler } from './space/commands/create-space';
export { DeleteSpace, DeleteSpaceHandler } from './space/commands/delete-space';
export { RemoveMember } from './space/commands/remove-member';
export { SetMember } from './space/commands/set-member';
export { type Space, type PresentSpace, spaceDecider } from './space/space.decider';
export {
  spaceRole,
  type SpaceRole,
  slugSchema,
  colorSchema,
  descriptionSchema,
  spaceEvents,
  type SpaceEvent,
} from './space/space.events';
export { PROMPTS_OF_SPACE, type PromptsOfSpace, SPACES_OF_USER, type SpacesOfUser } from './lookups';
export { SpacesModule } from './spaces.module';
