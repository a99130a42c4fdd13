import os from 'node:os';
import { Parser } from '@app/extraction';
import { BACKGROUND_PRIORITY } from '@app/kernel';
import { UnfinishedWork } from '@app/projecting';
import { openContext } from '../../../test/fixtures/context';
import { spendingLookups } from '../../../test/fixtures/spending-lookups';
import { Batches } from './document/batches';
import { KnowledgeModule } from './knowledge.module';
import {
  CHUNKING_OF,
  INDEXED_DOCUMENTS,
  RUNNING_REINDEXES,
  DOCUMENTS_OF,
  DOCUMENTS_WITH_TAGS,
  SHOWN_DOCUMENTS,
  SYNCED_DOCUMENTS,
  TAGS_THAT_EXIST,
  WAITING_DOCUMENTS,
} from './lookups';
import { CreateTag } from './tags/commands/create-tag';
import { KnownTags } from './tags/known-tags';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => {
  context = await openContext(KnowledgeModule, [
    ...spendingLookups,
    { provide: INDEXED_DOCUMENTS, useValue: async function* () {} },
    { provide: RUNNING_REINDEXES, useValue: { running: async () => [], open: async () => [] } },
    { provide: CHUNKING_OF, useValue: async () => null },
    { provide: DOCUMENTS_OF, useValue: async () => [] },
    { provide: DOCUMENTS_WITH_TAGS, useValue: async () => [] },
    { provide: TAGS_THAT_EXIST, useValue: async () => new Set() },
    { provide: SYNCED_DOCUMENTS, useValue: async () => [] },
    { provide: SHOWN_DOCUMENTS, useValue: {} },
    { provide: WAITING_DOCUMENTS, useValue: async () => [] },
  ]);
});
afterAll(() => context.close());

describe('the module of Knowledge', () => {
  it('handles commands, and exports which tags are known', async () => {
    const { commands, ids, meta, module } = context;
    const spaceId = ids.next();
    const { tagId } = await commands.execute(new CreateTag(spaceId, { name: 'T', color: '#808080' }, meta()));
    const known = module.get(KnownTags, { strict: false });
    await known.assert(spaceId, [tagId]);
    await expect(known.assert(ids.next(), [tagId])).rejects.toMatchObject({ code: 'not_found' });
  });

  it('has what requests left unfinished finished', async () => {
    const finish = jest.spyOn(context.module.get(Batches, { strict: false }), 'finish');
    await context.module.get(UnfinishedWork).finishAll();
    expect(finish).toHaveBeenCalledTimes(1);
  });

  it('reads files at the priority of background work', async () => {
    const set = jest.spyOn(os, 'setPriority');
    const file = { name: 'a.json', mimeType: '', body: Buffer.from('{"a":1}') };
    await context.module.get(Parser, { strict: false }).read(file, new AbortController().signal);
    expect(set.mock.calls).toEqual([[expect.any(Number), BACKGROUND_PRIORITY]]);
  });

  it('runs its policies', async () =>
    expect(await context.policies()).toEqual([
      'apply-reindex',
      'cancel-reindexes-of-the-deleted',
      'delete-knowledge-of-the-deleted',
      'delete-tags-of-deleted-spaces',
      'detach-deleted-tags',
      'ingest-waiting-documents',
      'remove-superseded-blobs',
      'retitle-renamed-documents',
    ]));
});
