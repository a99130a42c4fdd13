import { idOf, type RecordedEvent } from '@app/kernel';
import type { KeySelector } from '@app/vault';

/** What a kind of event erases: names the keys to destroy; undefined where it erases nothing. */
export type Erasables = Readonly<Record<string, (event: RecordedEvent) => KeySelector | undefined>>;

const itsThing = ({ context }: RecordedEvent): KeySelector => ({ thing: context.stream });

/**
 * The deletions of the product. What has no key of its own cannot be erased on its own: a tag goes with its Space, a
 * message with its conversation. What was made when its Space or user was gone already is erased after them.
 */
export const erasables: Erasables = {
  UserDeleted: ({ context }) => ({ userId: idOf(context.stream) }),
  SpaceDeleted: ({ context }) => ({ spaceId: idOf(context.stream) }),
  AgentDeleted: itsThing,
  PromptDeleted: itsThing,
  DocumentDeleted: itsThing,
  ConversationDeleted: itsThing,
  TagDeleted: (event) => (event.data['withSpace'] === true ? itsThing(event) : undefined),
  ApiKeyRevoked: (event) => (event.data['withUser'] === true ? itsThing(event) : undefined),
};
