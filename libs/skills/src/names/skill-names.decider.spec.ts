import { given } from '../../../kernel/src/decider.contract';
import { skillNamesDecider, type SkillNameCommand, type TakenName } from './skill-names.decider';
import type { SkillNameEvent } from './skill-names.events';

/** A Skill of the Space, unless of an Agent, whose name and slug are its own. */
const named = (number: number, more: Partial<TakenName> = {}): TakenName => ({
  skillId: `skill-${number}`,
  agentId: null,
  ticket: `ticket-${number}`,
  name: `name-${number}`,
  slug: `slug-${number}`,
  ...more,
});
const take = (wanted: TakenName, most = 10): SkillNameCommand => ({ type: 'Take', most, ...wanted });
const taken = (data: TakenName): SkillNameEvent => ({ type: 'SkillNameTaken', data });
const release = (ticket: string): SkillNameCommand => ({ type: 'Release', ticket });

describe('the name of a Skill', () => {
  it('is taken once, and free when it is given back', () => {
    given(skillNamesDecider)
      .when(take(named(1)))
      .yields(taken(named(1)));
    given(skillNamesDecider, taken(named(1)))
      .when(take(named(1)))
      .yields();
    const released: SkillNameEvent = { type: 'SkillNameReleased', data: { skillId: 'skill-1', ticket: 'ticket-1' } };
    given(skillNamesDecider, taken(named(1)))
      .when(release('ticket-1'))
      .yields(released);
    given(skillNamesDecider, taken(named(1)))
      .when(release('ticket-2'))
      .yields();
    const next = named(2, { name: 'name-1', slug: 'slug-1' });
    given(skillNamesDecider, taken(named(1)), released)
      .when(take(next))
      .yields(taken(next));
  });

  it.each<[string, string | null, string | null, boolean]>([
    ['the Space', null, null, true],
    ['an Agent, where the Space has it', 'a1', null, true],
    ['the Space, where an Agent has it', null, 'a1', true],
    ['an Agent, where it has it', 'a1', 'a1', true],
    ['an Agent, where another has it', 'a2', 'a1', false],
  ])('is one, as is its slug, in %s', (_, agentId, other, isTaken) => {
    const names = given(skillNamesDecider, taken(named(1, { agentId: other })));
    for (const [same, facts] of [
      [{ name: 'name-1' }, { path: 'name' }],
      [{ slug: 'slug-1' }, { path: 'name', reason: 'slug_taken' }],
    ] as const) {
      const wanted = named(2, { agentId, ...same });
      if (isTaken) names.when(take(wanted)).rejects('name_taken', facts);
      else names.when(take(wanted)).yields(taken(wanted));
    }
  });

  it('is in the way of nothing that its own Skill wants', () => {
    const again = named(1, { ticket: 'ticket-2', name: 'name-2' });
    given(skillNamesDecider, taken(named(1)))
      .when(take(again))
      .yields(taken(again));
  });

  it('of an installation is in the way of one more of its entry, and of what is called so', () => {
    const names = given(skillNamesDecider, taken(named(1, { entryId: 'entry-1' })));
    const installed = (entryId: string, more: Partial<TakenName>) => take(named(2, { entryId, ...more }));
    names.when(installed('entry-1', { name: 'name-1' })).rejects('name_taken', { reason: 'installed' });
    names.when(installed('entry-2', { name: 'name-1' })).rejects('name_taken', { reason: 'entry_name_taken' });
    names.when(installed('entry-2', { slug: 'slug-1' })).rejects('name_taken', { reason: 'entry_slug_taken' });
  });
});

describe('a place', () => {
  it('has as many Skills as it may, beside those of other places, however many names they hold', () => {
    const names = given(
      skillNamesDecider,
      taken(named(1)),
      taken(named(1, { ticket: 'renamed', name: 'other', slug: 'other' })),
      taken(named(2, { agentId: 'a1' })),
    );
    names.when(take(named(3), 2)).yields(taken(named(3)));
    names.when(take(named(3), 1)).rejects('conflict', { reason: 'skills_full' });
    const again = named(1, { ticket: 'again', name: 'third', slug: 'third' });
    names.when(take(again, 1)).yields(taken(again));
  });
});
