import type { EventContext } from '@app/kernel';
import { auditObjectRow, auditObjects } from '.';

const context = (stream: string) => ({ stream }) as EventContext;

describe('the view audit-objects', () => {
  it.each([
    ['TagCreated', { tagId: 't1' }, 'tags-s1', 'tag/t1'],
    ['UserMessageAdded', { messageId: 'm1' }, 'conversation-c1', 'message/m1'],
    ['AssistantMessageAdded', { messageId: 'm2' }, 'conversation-c1', 'message/m2'],
  ])('%s names the stream of what it made', (type, data, stream, key) => {
    const row = { stream };
    expect(auditObjects.apply({ type, data, context: context(stream) })).toEqual([{ op: 'put', key, row }]);
    expect(auditObjectRow.parse(row)).toEqual(row);
  });
});
