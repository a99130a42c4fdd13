import type { EventContext } from '@app/kernel';
import { auditObjectRow, auditObjects } from './audit-objects.projection';

const context = (stream: string) => ({ stream }) as EventContext;

describe('the view audit-objects', () => {
  it.each([
    ['TagCreated', { tagId: 't1' }, 'tags-s1', ['tag/t1']],
    ['UserMessageAdded', { messageId: 'm1' }, 'conversation-c1', ['message/m1']],
    ['AssistantMessageAdded', { messageId: 'm2' }, 'conversation-c1', ['message/m2']],
    ['DocumentAdded', { tagIds: ['t1', 't2'] }, 'document-d1', ['tag/t1', 'tag/t2']],
    ['DocumentTagsChanged', { attached: ['t3'], detached: ['t1'] }, 'document-d1', ['tag/t3']],
  ])('%s tells of objects', (type, data, stream, objects) => {
    const rows = objects.map((object) => ({ object, stream }));
    expect(auditObjects.apply({ type, data, context: context(stream) })).toEqual(
      rows.map((row) => ({ op: 'put', key: `${row.object}/${stream}`, row })),
    );
    for (const row of rows) expect(auditObjectRow.parse(row)).toEqual(row);
  });
});
