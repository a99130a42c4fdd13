import { defineEvent, sensitive, textSchema } from '@app/kernel';
import { invocationUsage } from '@app/models';
import { z } from 'zod';

const id = z.uuid();
const count = z.number().int().nonnegative();

/** Where a summary ends: what stands before it is summarised, the rest is shown to models as it was said. */
export const boundary = z.strictObject({
  messageId: id.describe('The message that contains the boundary.'),
  part: count.describe('The index of the part in that message.'),
  offset: count.describe('The number of characters of that part that are summarised.'),
});
export type Boundary = z.output<typeof boundary>;

/** A call to a model, as it was billed. */
export const invocation = z.strictObject({ id: z.string(), usage: invocationUsage });
export type Invocation = z.output<typeof invocation>;

export const conversationCompacted = defineEvent({
  type: 'ConversationCompacted',
  description:
    'A branch of a conversation was summarised up to a boundary. Models see the summary and what comes after the boundary. The messages stay.',
  entity: 'checkpointId',
  data: z.strictObject({
    conversationId: id,
    checkpointId: id,
    /** The checkpoint whose summary went into this one. */
    previousId: id.nullable(),
    boundary,
    summary: sensitive(textSchema(1_000_000)),
    tokensBefore: count,
    tokensAfter: count,
    model: z.string(),
    invocations: z.array(invocation),
    /** Skills that what it summarises has loaded: they stay loaded. */
    skillIds: z.array(z.string()).exactOptional(),
  }),
});

export const checkpointDeleted = defineEvent({
  type: 'CheckpointDeleted',
  description: 'A message was deleted, and with it a summary that was made from it.',
  data: z.strictObject({ checkpointId: id }),
});

export const checkpointEvents = [conversationCompacted, checkpointDeleted] as const;
