import { given } from '../../../kernel/src/decider.contract';
import { attachmentDecider } from './attachment.decider';
import type { AttachmentEvent } from './attachment.events';

const attachment = {
  fileId: 'f',
  agentId: 'a',
  spaceId: 's',
  userId: 'u',
  filename: 'plan.pdf',
  mediaType: 'application/pdf',
  sizeBytes: 3,
  expiresAt: '2026-11-24T00:00:00.000Z',
  file: 'blob-1',
  text: 'blob-2',
};
const added: AttachmentEvent = { type: 'AttachmentAdded', data: attachment };
const deleted: AttachmentEvent = { type: 'AttachmentDeleted', data: { blobs: ['blob-1', 'blob-2'] } };

describe('an attached file', () => {
  it('is added once', () => {
    given(attachmentDecider).when({ type: 'Add', attachment }).yields(added);
    given(attachmentDecider, added).when({ type: 'Add', attachment }).yields();
    given(attachmentDecider, added, deleted).when({ type: 'Add', attachment }).rejects('not_found');
  });

  it('releases its bodies when it is deleted, once', () => {
    given(attachmentDecider, added).when({ type: 'Delete' }).yields(deleted);
    given(attachmentDecider, added, deleted).when({ type: 'Delete' }).yields();
    given(attachmentDecider).when({ type: 'Delete' }).yields();
  });
});
