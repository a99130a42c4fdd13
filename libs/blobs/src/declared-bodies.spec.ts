import { declaredBodies } from './declared-bodies';
import type { Blobs } from './blobs';

const put: Blobs['put'] = async () => ({ name: 'b', size: 0 });
const store = { put, group: () => ({ put, durable: async () => undefined }) };

it('a body is stored where an event of its aggregate names bodies, and rejected elsewhere', async () => {
  const blobs = declaredBodies(store, (stream) => stream === 'note-1');
  for (const { put: stores } of [blobs, blobs.group()]) {
    await expect(stores('note-1', Buffer.of(), {})).resolves.toEqual({ name: 'b', size: 0 });
    await expect(stores('board-1', Buffer.of(), {})).rejects.toThrow(
      'board-1 stores a body, but no event of the aggregate board names one: mark the field with `heldBlob`.',
    );
  }
});
