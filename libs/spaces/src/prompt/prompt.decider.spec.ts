import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import * as fc from 'fast-check';
import { promptDecider, type PromptCommand } from './prompt.decider';

const fields = { title: 'Greeting', text: 'Hello', tags: ['a'] };
const added = { type: 'PromptAdded', data: { spaceId: 's', ...fields } } as const;
const event = { ...added, data: { ...added.data, tags: [...fields.tags] } };
const deleted = { type: 'PromptDeleted', data: {} } as const;

describe('a prompt', () => {
  it('is added, changed and deleted', () => {
    given(promptDecider).when({ type: 'Create', spaceId: 's', fields }).yields(event);
    given(promptDecider, event)
      .when({ type: 'Update', fields: { text: 'Hi', tags: ['a'] } })
      .yields({ type: 'PromptChanged', data: { text: 'Hi' } });
    given(promptDecider, event)
      .when({ type: 'Update', fields: { tags: [] } })
      .yields({ type: 'PromptChanged', data: { tags: [] } });
    given(promptDecider, event).when({ type: 'Delete' }).yields(deleted);
  });

  it('stays deleted', () => {
    given(promptDecider, event, deleted)
      .when({ type: 'Update', fields: { text: 'Hi' } })
      .rejects('not_found');
    given(promptDecider, event, deleted).when({ type: 'Create', spaceId: 's', fields }).rejects('conflict');
    given(promptDecider).when({ type: 'Delete' }).rejects('not_found');
  });
});

test('a decided command yields nothing again', () => {
  const commands: fc.Arbitrary<PromptCommand> = fc.oneof(
    fc.constant({ type: 'Create' as const, spaceId: 's', fields }),
    fc.record({
      type: fc.constant('Update' as const),
      fields: fc.record({ text: fc.constantFrom('a', 'b'), tags: fc.array(fc.constantFrom('x', 'y')) }),
    }),
    fc.constant({ type: 'Delete' as const }),
  );
  decidesOnce(promptDecider, commands);
});
