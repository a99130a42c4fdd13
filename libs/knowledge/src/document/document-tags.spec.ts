import type { RecordedEvent } from '@app/kernel';
import type { DocumentCommand } from './document.commands';
import { documentDecider, type DocumentState, MOST_TAGS } from './document.decider';
import type { DocumentEvent } from './document.events';

const ID = '01900000-0000-7000-8000-000000000001';
const TAG = '01900000-0000-7000-8000-00000000000a';

const added = (tagIds: readonly string[]): DocumentState => {
  const place = { scope: 'space', spaceId: ID, agentId: null } as const;
  const content = { name: 'a.md', mimeType: 'text/plain', sizeBytes: 1, contentHash: 'h1', file: 'f1' };
  const [event] = documentDecider.decide(
    { type: 'Add', documentId: ID, ...place, ...content, provider: 'inline', tagIds },
    documentDecider.initial,
  );
  const context = { revision: 0, actor: 'user:u1' };
  return documentDecider.evolve(documentDecider.initial, { ...event, context } as RecordedEvent<DocumentEvent>);
};

it('a document carries so many tags at most, whichever way they come', () => {
  const full = added(Array.from({ length: MOST_TAGS }, (_, index) => `tag-${index}`));
  const attempts: readonly DocumentCommand[] = [
    { type: 'AttachTag', tagId: TAG },
    { type: 'Update', tagIds: [TAG], tagsKnown: new Set([TAG]) },
  ];
  for (const command of attempts)
    expect(() => documentDecider.decide(command, full)).toThrow(
      expect.objectContaining({ code: 'conflict', facts: { reason: 'too_many_tags' } }),
    );
  expect(documentDecider.decide({ type: 'AttachTag', tagId: 'tag-0' }, full)).toEqual([]);
  expect(documentDecider.decide({ type: 'Update', tagIds: [TAG] }, full)).toHaveLength(1);
});

it('a document is deleted as what it was found to be only while it is that', () => {
  const state = added([TAG]);
  expect(documentDecider.decide({ type: 'Delete', contentHash: 'h2' }, state)).toEqual([]);
  expect(documentDecider.decide({ type: 'Delete', contentHash: 'h1' }, state)).toMatchObject([
    { type: 'DocumentDeleted', data: { tagIds: [TAG] } },
  ]);
});
