import { UnusedKeys } from '@app/blobs';
import { Unavailable } from '@app/kernel';
import { decisionsInMemory, ids, keyring, meta } from '../../../../test/fixtures/decisions-in-memory';
import { MemoryBlobs } from '../../../../test/fixtures/memory-blobs';
import { SkillBodies } from '../skill/skill-bodies';
import type { StoredFile } from '../skill/skill.events';
import { bodiesOf } from '../skill/version';
import { entryDecider } from './entry.decider';
import { entryEvents } from './entry.events';
import { EntryListing, type ListedContent } from './entry-listing';

/** An entry that is to be, and what lists it with a file of one body. */
const setUp = () => {
  const { log, decisions } = decisionsInMemory(entryEvents);
  const blobs = new MemoryBlobs();
  const bodies = new SkillBodies(blobs, decisions, new UnusedKeys({ ...keyring, destroy: async () => [] }));
  const listing = new EntryListing(decisions, bodies);
  const entryId = ids.next();
  const stored: (Parameters<ListedContent['store']>[1] | 'first')[] = [];
  const file = {
    path: 'a.md',
    mediaType: 'text/markdown',
    sizeBytes: 1,
    sha256: '0'.repeat(64),
    file: '',
    findings: [],
  };
  /** `meanwhile`: what happens once its file is stored. */
  const list = (instructions: string, more: Partial<ListedContent> = {}, meanwhile?: () => Promise<unknown>) => {
    const texts = { name: 'N', slug: 'n', description: 'D', instructions, frontmatter: {}, findings: [] };
    const version = { ...texts, sourceId: ids.next(), listedBy: ids.next(), contentHash: instructions };
    const store = async (stream: string, before: Parameters<ListedContent['store']>[1]): Promise<StoredFile[]> => {
      stored.push(before ?? 'first');
      const { name } = await blobs.put(stream, Buffer.from(instructions));
      await meanwhile?.();
      return [{ ...file, file: name }];
    };
    return listing.list(entryId, { version, files: [file], acceptFindings: false, store, ...more }, meta());
  };
  const versions = async () => {
    const { state } = await decisions.load(entryDecider, entryId);
    return state.status === 'absent' ? [] : state.versions.toArray();
  };
  const kept = () => [...blobs.bodies.keys()];
  return { log, blobs, stored, file, list, versions, kept };
};

describe('a version that is listed', () => {
  it('has its files once, beside those of the newest before it, and none again where nothing changed', async () => {
    const { list, stored, versions, kept } = setUp();
    await list('I');
    await list('I');
    expect([stored, kept()]).toEqual([['first'], ['blob-1']]);
    await list('J');
    const [first, second] = await versions();
    expect(stored).toEqual(['first', first]);
    expect(second).toMatchObject({ number: 2, instructions: 'J' });
    expect(kept()).toEqual([...bodiesOf(await versions())]);
  });

  it('leaves no file of its own where another request lists the same meanwhile', async () => {
    const { list, versions, kept } = setUp();
    await list('I', {}, () => list('I'));
    expect(await versions()).toHaveLength(1);
    expect(kept()).toEqual(['blob-2']);
    expect([...bodiesOf(await versions())]).toEqual(['blob-2']);
  });

  it('stores nothing where its findings are not accepted', async () => {
    const { list, file, stored, versions } = setUp();
    const files = [{ ...file, findings: [{ rule: 'override', line: 1 }] }];
    await expect(list('I', { files })).rejects.toMatchObject({ code: 'findings_not_accepted' });
    expect([stored, await versions()]).toEqual([[], []]);
  });

  it('is not listed where its files cannot be read', async () => {
    const { list, blobs, versions } = setUp();
    await expect(list('I', {}, async () => blobs.bodies.clear())).rejects.toThrow(Unavailable);
    expect(await versions()).toEqual([]);
  });

  it.each([
    ['unknown', ['blob-1']],
    ['none', []],
  ] as const)('keeps the files that an event may name yet, and no others: outcome %s', async (outcome, left) => {
    const { list, log, kept } = setUp();
    const failed = new Unavailable('log', 'no answer', outcome);
    jest.spyOn(log, 'append').mockRejectedValue(failed);
    await expect(list('I')).rejects.toMatchObject({ name: 'Unavailable', outcome });
    expect(kept()).toEqual(left);
  });
});
