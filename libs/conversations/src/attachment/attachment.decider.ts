import { type Decider, defineAggregate, never, ownKey, reject } from '@app/kernel';
import { type AttachmentEvent, attachmentEvents } from './attachment.events';

type Added = Extract<AttachmentEvent, { type: 'AttachmentAdded' }>['data'];

/** State of a file of a conversation. */
export type Attachment =
  { readonly status: 'absent' } | ({ readonly status: 'present' } & Added) | { readonly status: 'deleted' };

/** What can be asked of a file of a conversation. */
export type AttachmentCommand = { readonly type: 'Add'; readonly attachment: Added } | { readonly type: 'Delete' };

/** A file that a user uploaded for questions to one Agent. Which messages name it, those say. */
export const attachmentDecider: Decider<Attachment, AttachmentCommand, AttachmentEvent> = {
  category: 'attachment',
  initial: { status: 'absent' },

  decide: (command, state) => {
    switch (command.type) {
      case 'Add':
        if (state.status === 'deleted') return reject('not_found', { kind: 'file', id: command.attachment.fileId });
        return state.status === 'present' ? [] : [{ type: 'AttachmentAdded', data: command.attachment }];
      case 'Delete':
        return state.status === 'present' ? [{ type: 'AttachmentDeleted', data: { blobs: blobsOf(state) } }] : [];
      default:
        return never(command);
    }
  },

  evolve: (_state, event) => {
    switch (event.type) {
      case 'AttachmentAdded':
        return { status: 'present', ...event.data };
      case 'AttachmentDeleted':
        return { status: 'deleted' };
      default:
        return never(event);
    }
  },

  owner: (event) =>
    event.type === 'AttachmentAdded' ? { userId: event.data.userId, spaceId: event.data.spaceId } : {},
};

const blobsOf = ({ file, text }: Added): string[] => [file, ...(text === undefined ? [] : [text])];

export const attachmentAggregate = defineAggregate(attachmentDecider, attachmentEvents, {
  erasure: {
    by: { AttachmentDeleted: ownKey },
    again: (decisions, id, meta) => decisions.transact(attachmentDecider, id, { type: 'Delete' }, meta),
  },
  kinds: {},
});
