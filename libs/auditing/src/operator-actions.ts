import { type Decider, defineEvent, type EventsOf, nameSchema, sensitive } from '@app/kernel';
import { z } from 'zod';

const onView = <Type extends string>(type: Type, description: string) =>
  defineEvent({ type, description, data: z.strictObject({ projection: z.string() }) });
const onDeadLetter = <Type extends string>(type: Type, description: string) =>
  defineEvent({
    type,
    description,
    data: z.strictObject({ deadLetterId: z.string(), eventId: z.string(), stream: z.string(), position: z.string() }),
  });

/** What operators ask for is on record before it is done; whether it succeeded shows in the views themselves. */
export const operatorActionEvents = [
  onView('ViewRebuildRequested', 'An operator asked to rebuild a view beside the live one.'),
  onView('ViewRebuildPauseRequested', 'An operator asked to pause a rebuild.'),
  onView('ViewRebuildResumeRequested', 'An operator asked to resume a rebuild.'),
  onView('ViewRebuildCancelRequested', 'An operator asked to cancel a rebuild and drop what it built.'),
  onView('ViewSwapRequested', 'An operator asked to serve the rebuilt version of a view.'),
  onView('ViewRollbackRequested', 'An operator asked to roll a view back to the version before.'),
  onView('ViewRetireRequested', 'An operator asked to drop the version of a view that is no longer served.'),
  onDeadLetter('DeadLetterRetryRequested', 'An operator asked to retry a dead letter.'),
  onDeadLetter('DeadLetterDiscardRequested', 'An operator asked to discard a dead letter.'),
  defineEvent({
    type: 'BlobSweepRequested',
    description: 'An operator asked to remove stored bodies that no event names.',
    data: z.strictObject({}),
  }),
  defineEvent({
    type: 'ModelCatalogueReloadRequested',
    description: 'An operator asked to reload the model catalogue.',
    data: z.strictObject({}),
  }),
  defineEvent({
    type: 'AdminKeyRequested',
    description:
      'Somebody with access to the stores created an admin API key, with every permission and no limit. `by` is the name they gave.',
    data: z.strictObject({
      keyId: z.uuid(),
      userId: z.uuid(),
      by: sensitive(nameSchema()),
      reason: sensitive(nameSchema()),
    }),
  }),
] as const;

export type OperatorAction = EventsOf<typeof operatorActionEvents>;

/**
 * What operators did to one view or policy, to `models` or to `blobs`: stream `operations-<name>`. An admin's key has
 * its own stream, `operations-<keyId>`, whose content is erased with the admin.
 */
export const operatorActions: Decider<null, OperatorAction, OperatorAction> = {
  category: 'operations',
  initial: null,
  decide: (action) => [action],
  evolve: () => null,
  owner: (event) => (event.type === 'AdminKeyRequested' ? { userId: event.data.userId } : {}),
};
