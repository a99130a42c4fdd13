import type { RecordedEvent } from '@app/kernel';
import { type TagCommand, tagRegistryDecider } from './tag-registry.decider';
import type { TagEvent } from './tag.events';

const [A, B] = ['01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-00000000000b'] as const;
const create = (tagId: string, name: string): TagCommand => ({
  type: 'Create',
  tagId,
  spaceId: A,
  name,
  color: '#000000',
});

const after = (...commands: readonly TagCommand[]) => {
  let revision = -1;
  return commands.reduce(
    (state, command) =>
      tagRegistryDecider.decide(command, state).reduce(
        (folded, event) =>
          tagRegistryDecider.evolve(folded, {
            ...event,
            context: { revision: (revision += 1) },
          } as RecordedEvent<TagEvent>),
        state,
      ),
    tagRegistryDecider.initial,
  );
};

describe('the tags of a Space', () => {
  it.each(['Important', 'IMPORTANT', ' important ', 'ｉmportant', 'im\u00adportant'])(
    'take no second name like %j',
    (name) => {
      expect(() => tagRegistryDecider.decide(create(B, name), after(create(A, 'Important')))).toThrow('name_taken');
      expect(() =>
        tagRegistryDecider.decide(
          { type: 'Update', tagId: B, name },
          after(create(A, 'Important'), create(B, 'Other')),
        ),
      ).toThrow('name_taken');
    },
  );

  it('free a name with its tag, and let a tag change the case of its own', () => {
    expect(
      tagRegistryDecider.decide(create(B, 'Important'), after(create(A, 'Important'), { type: 'Delete', tagId: A })),
    ).toHaveLength(1);
    expect(
      tagRegistryDecider.decide({ type: 'Update', tagId: A, name: 'IMPORTANT' }, after(create(A, 'Important'))),
    ).toHaveLength(1);
  });

  it('say nothing twice', () => {
    const once = after(create(A, 'Important'));
    expect(tagRegistryDecider.decide({ type: 'Update', tagId: A, name: 'Important', color: '#000000' }, once)).toEqual(
      [],
    );
    expect(
      tagRegistryDecider.decide({ type: 'Delete', tagId: A }, after(create(A, 'x'), { type: 'Delete', tagId: A })),
    ).toEqual([]);
    expect(() => tagRegistryDecider.decide({ type: 'Delete', tagId: B }, once)).toThrow('not_found');
  });

  it('hold If-Match against the tag, not against its neighbours', () => {
    const both = after(create(A, 'one'), create(B, 'two'));
    expect(tagRegistryDecider.decide({ type: 'Update', tagId: A, name: 'uno', ifRevision: 0 }, both)).toHaveLength(1);
    expect(() => tagRegistryDecider.decide({ type: 'Update', tagId: A, name: 'uno', ifRevision: 1 }, both)).toThrow(
      'precondition_failed',
    );
  });
});
