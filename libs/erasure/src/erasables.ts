import { idOf, type RecordedEvent } from '@app/kernel';
import type { KeySelector } from '@app/vault';

/** What a kind of event erases: names the keys to destroy. */
export type Erasables = Readonly<Record<string, (event: RecordedEvent) => KeySelector>>;

const itsThing = ({ context }: RecordedEvent): KeySelector => ({ thing: context.stream });

/**
 * The deletions of the product. What has no key of its own cannot be erased on its own: a tag goes with its Space, a
 * message with its conversation.
 */
export const erasables: Erasables = {
  UserDeleted: ({ context }) => ({ userId: idOf(context.stream) }),
  SpaceDeleted: ({ context }) => ({ spaceId: idOf(context.stream) }),
  AgentDeleted: itsThing,
  PromptDeleted: itsThing,
  DocumentDeleted: itsThing,
  ConversationDeleted: itsThing,
};
