import type { SkillEvent } from '@app/skills';
import { happened, rowsAfter } from '../../../test/fixtures/view';
import { skills } from './skills.projection';

const ticket = '01900000-0000-7000-8000-000000000001';
const created = happened('skill-k1', 0, {
  type: 'SkillCreated',
  data: {
    name: 'Writing',
    slug: 'writing',
    scope: 'space',
    spaceId: 's1',
    agentId: null,
    source: 'CUSTOM',
    provider: 'json',
    sourceId: null,
    creatorType: 'USER',
    creatorId: 'u1',
    ticket,
  },
} satisfies SkillEvent);

describe('the view of Skills', () => {
  it('has the revision of what shows nothing, too: a write that expects it is not rejected', () => {
    const forfeited = { type: 'ClaimForfeited', data: { key: 'k', ticket } } as const;
    const before = rowsAfter(skills, created);
    expect(before['k1']).toMatchObject({ name: 'Writing', revision: 0 });
    expect(rowsAfter(skills, created, happened('skill-k1', 1, forfeited))).toEqual({
      k1: { ...before['k1'], revision: 1 },
    });
    for (const stream of ['skillInstallation-k1', 'space-k1'])
      expect(rowsAfter(skills, created, happened(stream, 1, forfeited))).toEqual(before);
  });
});
