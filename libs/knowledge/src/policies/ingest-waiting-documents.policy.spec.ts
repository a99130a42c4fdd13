import type { Config } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import { addDocument } from '../../../../test/fixtures/document-commands';
import { recorded } from '../../../../test/fixtures/recorded';
import { documentDecider } from '../document/document.decider';
import { documentEvents } from '../document/document.events';
import { IngestWaitingDocuments } from './ingest-waiting-documents.policy';

/** A document that was just added, and the policy of a process with these roles. */
const setUp = async (roles: Config['ROLES'] = ['api', 'projector', 'worker'], spaceId: string | null = ids.next()) => {
  const { decisions } = decisionsInMemory(documentEvents);
  const offered: unknown[] = [];
  const worker = { offer: (...given: readonly unknown[]) => void offered.push(given) };
  const documentId = ids.next();
  const scope = spaceId === null ? 'global' : 'space';
  await decisions.transact(documentDecider, documentId, { ...addDocument, documentId, scope, spaceId }, meta());
  const policy = new IngestWaitingDocuments(worker, decisions, { ROLES: roles });
  const meet = (type = 'DocumentAdded') => policy.react(recorded(`document-${documentId}`, type));
  const remove = () => decisions.transact(documentDecider, documentId, { type: 'Delete' }, meta());
  return { documentId, spaceId, offered, policy, meet, remove };
};

it.each(['DocumentAdded', 'DocumentContentReplaced', 'DocumentReprocessRequested'])(
  'passes a document on at once with %s, as of its Space and of who asked for it',
  async (type) => {
    const { documentId, spaceId, offered, policy, meet } = await setUp();
    expect(policy.types).toContain(type);
    await meet(type);
    expect(offered).toEqual([[documentId, { spaceId, userId: '1' }]]);
  },
);

it('passes a global document on as of no Space', async () => {
  const { offered, meet } = await setUp(undefined, null);
  await meet();
  expect(offered).toMatchObject([[expect.anything(), { spaceId: '' }]]);
});

it('leaves documents to the workers where this process is none', async () => {
  const { offered, meet } = await setUp(['api', 'projector']);
  await meet();
  expect(offered).toEqual([]);
});

it('passes nothing on of what was deleted since', async () => {
  const { offered, meet, remove } = await setUp(['worker']);
  await remove();
  await meet();
  expect(offered).toEqual([]);
});
