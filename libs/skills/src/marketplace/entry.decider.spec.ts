import * as fc from 'fast-check';
import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import { type EntryCommand, entryDecider } from './entry.decider';
import type { EntryEvent } from './entry.events';

type Listing = Extract<EntryCommand, { type: 'List' }>;

const version = (versionId: string, more: Partial<Listing['version']> = {}): Listing['version'] => ({
  versionId,
  sourceId: 's1',
  listedBy: 'u1',
  name: 'Refunds',
  slug: 'refunds',
  description: 'D',
  instructions: versionId,
  frontmatter: {},
  findings: [],
  files: [],
  contentHash: `hash of ${versionId}`,
  ...more,
});
const listing = (versionId: string, more: Partial<Listing['version']> = {}, acceptFindings = false): Listing => ({
  type: 'List',
  version: version(versionId, more),
  acceptFindings,
});
const listed = (versionId: string, number = 1): EntryEvent => ({
  type: 'SkillListed',
  data: { ...version(versionId), number },
});
const archived: EntryEvent = { type: 'SkillArchived', data: { archivedBy: 'u1' } };
const restored: EntryEvent = { type: 'SkillRestored', data: { restoredBy: 'u2' } };

describe('an entry of the marketplace', () => {
  it('gets a version for what changed, under the name that it has', () => {
    given(entryDecider).when(listing('v1')).yields(listed('v1'));
    given(entryDecider, listed('v1')).when(listing('v1')).yields();
    given(entryDecider, listed('v1'))
      .when(listing('v2', { name: 'Returns', slug: 'returns' }))
      .yields(listed('v2', 2));
    // What it had before the last is listed again as a version of its own.
    given(entryDecider, listed('v1'), listed('v2', 2)).when(listing('v1')).yields(listed('v1', 3));
  });

  it('has findings of texts and files only where they are accepted', () => {
    const findings = [{ rule: 'override', line: 1 }];
    const file = { path: 'a.md', mediaType: 'text/markdown', sizeBytes: 1, sha256: 'h', file: 'b', findings };
    given(entryDecider).when(listing('v1', { findings })).rejects('findings_not_accepted');
    given(entryDecider)
      .when(listing('v1', { files: [file] }))
      .rejects('findings_not_accepted');
    expect(entryDecider.decide(listing('v1', { findings }, true), entryDecider.initial)).toHaveLength(1);
  });

  it('is archived and restored, and takes no version meanwhile', () => {
    const archive: EntryCommand = { type: 'Archive', userId: 'u1' };
    const restore: EntryCommand = { type: 'Restore', userId: 'u2' };
    given(entryDecider).when(archive).rejects('not_found');
    given(entryDecider, listed('v1')).when(archive).yields(archived);
    given(entryDecider, listed('v1'), archived).when(archive).yields();
    given(entryDecider, listed('v1'), archived).when(listing('v2')).rejects('conflict');
    given(entryDecider, listed('v1'), archived).when(listing('v1')).rejects('conflict');
    given(entryDecider, listed('v1'), archived).when(restore).yields(restored);
    given(entryDecider, listed('v1'), archived, restored).when(restore).yields();
    given(entryDecider, listed('v1'), archived, restored).when(listing('v2')).yields(listed('v2', 2));
  });

  it('decides a repeat once', () => {
    const anyCommand: fc.Arbitrary<EntryCommand> = fc.oneof(
      fc.constantFrom('v1', 'v2').map((versionId) => listing(versionId)),
      fc.constantFrom('Archive' as const, 'Restore' as const).map((type) => ({ type, userId: 'u1' })),
    );
    decidesOnce(entryDecider, anyCommand);
  });
});
