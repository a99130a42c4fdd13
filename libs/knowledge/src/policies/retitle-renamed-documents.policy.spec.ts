import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { recorded } from '../../../../test/fixtures/recorded';
import { Retitles } from '../retitle/retitles';
import { RetitleRenamedDocuments } from './retitle-renamed-documents.policy';

const setUp = () => {
  const store = new MemoryCoordinationStore();
  const retitles = new Retitles(store);
  /** Does the work that waits, and `meanwhile` before it is marked as done. */
  const workOnAll = async (meanwhile?: () => Promise<void>): Promise<void> => {
    const waiting = await retitles.waiting();
    await meanwhile?.();
    for (const retitle of waiting) await retitles.done(retitle);
  };
  return { policy: new RetitleRenamedDocuments(store), retitles, workOnAll };
};

it.each([
  ['DocumentRenamed', { actor: 'user:7' }, { userId: '7' }],
  ['DocumentRenamed', { actor: 'key:k', onBehalfOf: 'user:7' }, { userId: '7', keyId: 'k' }],
  // Whoever swaps the passages of all documents has renamed none.
  ['DocumentPassagesSwapped', { actor: 'user:7' }, null],
])('hands on a document with %s by %j, which counts for %j', async (type, by, askedBy) => {
  const { policy, retitles } = setUp();
  expect(policy.types).toContain(type);
  await policy.react(recorded('document-d', type, {}, by));
  expect(await retitles.waiting()).toMatchObject([{ documentId: 'd', askedBy }]);
});

it('keeps a document that is renamed again while it is worked on', async () => {
  const { policy, retitles, workOnAll } = setUp();
  await policy.react(recorded('document-d', 'DocumentRenamed'));
  await workOnAll(() => policy.react(recorded('document-d', 'DocumentRenamed')));
  expect(await retitles.waiting()).toMatchObject([{ documentId: 'd' }]);
  await workOnAll();
  expect(await retitles.waiting()).toEqual([]);
});

it('hands on once what it meets twice', async () => {
  const { policy, retitles, workOnAll } = setUp();
  const event = recorded('document-d', 'DocumentRenamed');
  await policy.react(event);
  await workOnAll(() => policy.react(event));
  expect(await retitles.waiting()).toEqual([]);
});
