import * as fc from 'fast-check';
import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import { type SkillCommand, skillDecider } from './skill.decider';

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
