import * as fc from 'fast-check';
import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import { activeVersion, type PresentSkill, type SkillCommand, skillDecider } from './skill.decider';
import { hashOf } from './version';

const limits = { files: 2, bytes: 100 };
const origin = {
  scope: 'space' as const,
  spaceId: 's',
  agentId: null,
  source: 'CUSTOM' as const,
  provider: 'inline',
  sourceId: null,
  creatorType: 'USER' as const,
  creatorId: 'u',
};
const file = (path: string, body: string, sizeBytes = 1) => ({
  path,
  mediaType: 'text/markdown',
  sizeBytes,
  sha256: `of-${body}`,
  file: body,
  findings: [],
});
const saving = (versionId: string, change: object) => ({ versionId, savedBy: 'u', change, limits });
const texts = { description: 'D', instructions: 'I', frontmatter: {} };
const create = (publish = false): SkillCommand => ({
  type: 'Create',
  origin,
  name: 'N',
  slug: 'n',
  ticket: 't1',
  draft: saving('v1', { ...texts, files: [file('a.md', 'b1')] }),
  publish,
});
const created = skillDecider.decide(create(true), skillDecider.initial);
/** What commands make of a Skill, one after the other. */
const after = (...commands: readonly SkillCommand[]): readonly (typeof created)[number][] =>
  commands.reduce<readonly (typeof created)[number][]>(
    (events, command) => [...events, ...skillDecider.decide(command, given(skillDecider, ...events).state)],
    [],
  );
const rename = (name: string, ticket: string): SkillCommand => ({ type: 'Change', rename: { name, ticket } });
const change = (versionId: string, with_: object, whole?: true): SkillCommand => ({
  type: 'Change',
  draft: { ...saving(versionId, with_), ...(whole && { whole }) },
});

describe('a Skill', () => {
  it('begins a draft as a copy of what is live, and keeps what is live', () => {
    const { state, when } = given(skillDecider, ...created);
    const [event] = skillDecider.decide(change('v2', { instructions: 'J' }), state);
    expect(event).toMatchObject({
      type: 'SkillDraftSaved',
      data: { versionId: 'v2', number: 2, basedOn: 'v1', files: [], superseded: [] },
    });
    when(change('v2', { instructions: 'I', files: [file('a.md', 'b1')] })).yields();
    const drafted = given(skillDecider, ...created, event as (typeof created)[number]).state;
    expect(drafted).toMatchObject({ draft: { id: 'v2', instructions: 'J', description: 'D' }, activeVersionId: 'v1' });
  });

  it('names bodies that nothing has any more, and never those of a published version', () => {
    const drafted = skillDecider.decide(
      change('v2', { files: [file('a.md', 'b2')] }),
      given(skillDecider, ...created).state,
    );
    expect(drafted).toMatchObject([{ data: { superseded: [] } }]);
    const { state, when } = given(skillDecider, ...created, ...drafted);
    expect(skillDecider.decide(change('v3', { files: [file('a.md', 'b3')] }), state)).toMatchObject([
      { data: { versionId: 'v2', superseded: ['b2'] } },
    ]);
    when({ type: 'DiscardDraft', versionId: 'v2' }).yields({
      type: 'SkillDraftDiscarded',
      data: { versionId: 'v2', superseded: ['b2'] },
    });
    when({ type: 'Delete' }).yields({
      type: 'SkillDeleted',
      data: { spaceId: 's', agentId: null, ticket: 't1', blobs: ['b1', 'b2'] },
    });
  });

  it('names no body that a published version or the draft goes on with', () => {
    const drafted = given(skillDecider, ...after(create(true), change('v2', { files: [file('c.md', 'b2')] })));
    const of = (command: SkillCommand) => skillDecider.decide(command, drafted.state);
    expect(of(change('v3', { removed: ['a.md'] }))).toMatchObject([{ data: { removed: ['a.md'], superseded: [] } }]);
    expect(of(change('v3', { removed: ['c.md'] }))).toMatchObject([{ data: { superseded: ['b2'] } }]);
    expect(of(change('v3', { instructions: 'J' }))).toMatchObject([{ data: { files: [], superseded: [] } }]);
    drafted.when({ type: 'DiscardDraft', versionId: 'v2' }).yields({
      type: 'SkillDraftDiscarded',
      data: { versionId: 'v2', superseded: ['b2'] },
    });
  });

  it('rejects what does not fit, what it has no more, and versions that are not its own', () => {
    const { when } = given(skillDecider, ...created);
    when(change('v2', { files: [file('b.md', 'b2'), file('c.md', 'b3')] })).rejects('too_large');
    when(change('v2', { files: [file('a.md', 'b2', 101)] })).rejects('too_large');
    when({ type: 'Change', draft: { ...saving('v2', { files: [file('b.md', 'b9')] }), reused: ['b9'] } }).rejects(
      'conflict',
    );
    when({ type: 'Activate', versionId: 'v2' }).rejects('invalid_body');
    when({ type: 'Publish', versionId: '' }).rejects('conflict');
    given(skillDecider, ...created.slice(0, 2))
      .when({ type: 'DiscardDraft', versionId: 'v1' })
      .rejects('conflict');
  });

  it('uses no ticket that it forfeited, and forfeits none that it uses', () => {
    const claim = { key: 'skillNames-s', ticket: 't1' };
    const forfeited = { type: 'ClaimForfeited', data: claim } as const;
    given(skillDecider).when({ type: 'ForfeitClaim', claim }).yields(forfeited);
    given(skillDecider, forfeited).when(create()).rejects('name_taken');
    given(skillDecider, ...created)
      .when({ type: 'ForfeitClaim', claim })
      .rejects('name_taken');
  });

  it('takes no name by a ticket that it forfeited or gave back, also when its rename comes late', () => {
    const claim = { key: 'skillNames-s', ticket: 't2' };
    const late = { type: 'ForfeitClaim', claim } as const;
    given(skillDecider, ...after(create(), late))
      .when(rename('M', 't2'))
      .rejects('name_taken');
    given(skillDecider, ...after(late, create()))
      .when(rename('M', 't2'))
      .rejects('name_taken');
    given(skillDecider, ...after(create(), late))
      .when(late)
      .yields();
    given(skillDecider, ...after(create(), rename('M', 't2')))
      .when(rename('O', 't1'))
      .rejects('name_taken');
  });

  it('gives its ticket back for no name that it has already, and for no ticket that it has', () => {
    const { when } = given(skillDecider, ...created);
    when(rename('N', 't2')).yields();
    when(rename('M', 't1')).yields();
    when(rename('M', 't2')).yields({
      type: 'SkillRenamed',
      data: { name: 'M', ticket: 't2', spaceId: 's', released: 't1' },
    });
  });

  it('is created once: another with its id is told of it, and none comes back', () => {
    const { when } = given(skillDecider, ...created);
    when({ ...create(), ticket: 't2' } as SkillCommand).rejects('conflict', { reason: 'exists' });
    const deleted = given(skillDecider, ...after(create(true), { type: 'Delete' }));
    deleted.when(create()).rejects('not_found');
    deleted.when({ type: 'Delete' }).yields();
    deleted.when({ type: 'ForfeitClaim', claim: { key: 'k', ticket: 't1' } }).yields();
  });

  it('has no draft live, and what is live is the version that was named last', () => {
    const [first, second] = [create(true), change('v2', { instructions: 'J' })];
    given(skillDecider, ...after(first, second))
      .when({ type: 'Activate', versionId: 'v2' })
      .rejects('invalid_body');
    const both = after(first, second, { type: 'Publish', versionId: 'v2' }, { type: 'Activate', versionId: 'v1' });
    const back = given(skillDecider, ...both);
    back.when({ type: 'Activate', versionId: 'v1' }).yields();
    const skill = back.state as PresentSkill;
    expect(activeVersion(skill)).toMatchObject({ id: 'v1', instructions: 'I' });
    // A draft begins as a copy of what is live, and has a number of its own.
    back.when(change('v3', { instructions: 'I' })).yields();
    const third = skillDecider.decide(change('v3', { description: 'E' }), skill);
    expect(third).toMatchObject([{ data: { versionId: 'v3', number: 3, basedOn: 'v1' } }]);
    expect(given(skillDecider, ...both, ...third).state).toMatchObject({
      draft: { id: 'v3', description: 'E', instructions: 'I' },
    });
  });

  it('keeps the hash that its version was published with', () => {
    const { state } = given(skillDecider, ...created);
    const [version] = (state as PresentSkill).published;
    const published = created.find(({ type }) => type === 'SkillPublished');
    expect(version?.contentHash).toEqual(published?.type === 'SkillPublished' && published.data.contentHash);
    // Its texts may be erased.
    expect(version && hashOf({ ...version, instructions: '' })).toBe(version?.contentHash);
  });
});

test('a decided command yields nothing again', () => {
  const version = fc.constantFrom('v1', 'v2', 'v3');
  const commands: fc.Arbitrary<SkillCommand> = fc.oneof(
    fc.boolean().map(create),
    fc.record({
      type: fc.constant('Change' as const),
      draft: fc
        .tuple(version, fc.constantFrom('I', 'J'), fc.constantFrom('b1', 'b2'))
        .map(([id, instructions, body]) => saving(id, { instructions, files: [file('a.md', body)] })),
    }),
    fc.constantFrom('t1', 't2').map((ticket) => ({ type: 'Change' as const, rename: { name: ticket, ticket } })),
    fc.record({
      type: fc.constantFrom('DiscardDraft' as const, 'Publish' as const, 'Activate' as const),
      versionId: version,
    }),
    fc.constantFrom('t1', 't2').map((ticket) => ({ type: 'ForfeitClaim' as const, claim: { key: 'k', ticket } })),
    fc.constant({ type: 'Delete' as const }),
  );
  decidesOnce(skillDecider, commands);
});
