import type { Decisions } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import { documentDecider } from '../document/document.decider';
import { documentEvents } from '../document/document.events';
import type { SyncedDocumentsOf } from '../lookups';
import { SyncSource, SyncSourceHandler } from './commands/sync-source';

/** A source with two documents, and something that happens once the plan is being made. */
const setUp = async (meanwhile: (decisions: Decisions, documentId: string) => Promise<unknown>) => {
  const { log, decisions } = decisionsInMemory(documentEvents);
  const [agentId, spaceId, first, second] = [ids.next(), ids.next(), ids.next(), ids.next()];
  const found = [first, second].map((documentId) => ({ documentId, path: `${documentId}.md`, contentHash: 'before' }));
  for (const { documentId, path, contentHash } of found)
    await decisions.transact(
      documentDecider,
      documentId,
      {
        type: 'Add',
        documentId,
        scope: 'agent',
        spaceId,
        agentId,
        name: path,
        path,
        provider: 'sync:s',
        mimeType: 'text/plain',
        sizeBytes: 1,
        contentHash,
        file: ids.next(),
        tagIds: [],
      },
      meta(),
    );
  const documentsOf: SyncedDocumentsOf = async () => {
    await meanwhile(decisions, first);
    return found;
  };
  const handler = new SyncSourceHandler(decisions, log, documentsOf);
  const listing = { agentId, sourceId: 's', files: [], confirmDeletions: false, dryRun: false };
  const { plan, receipts } = await handler.execute(new SyncSource(listing, meta()));
  const statusOf = async (id: string) => (await decisions.load(documentDecider, id)).state.status;
  return {
    vanished: plan.vanished.map(({ documentId }) => [first, second].indexOf(documentId)),
    receipts,
    statuses: [await statusOf(first), await statusOf(second)],
  };
};

it('deletes no document whose file was sent again since the plan was made, and does not say so', async () => {
  const content = { mimeType: 'text/plain', sizeBytes: 2, contentHash: 'since', file: ids.next() };
  const { vanished, receipts, statuses } = await setUp((decisions, id) =>
    decisions.transact(documentDecider, id, { type: 'Update', content }, meta()),
  );
  expect([vanished, receipts.length, statuses]).toEqual([[1], 1, ['Pending', 'Deleted']]);
});

it('says that a file is gone whose document another deleted meanwhile', async () => {
  const { vanished, statuses } = await setUp((decisions, id) =>
    decisions.transact(documentDecider, id, { type: 'Delete' }, meta()),
  );
  expect([vanished, statuses]).toEqual([
    [0, 1],
    ['Deleted', 'Deleted'],
  ]);
});
