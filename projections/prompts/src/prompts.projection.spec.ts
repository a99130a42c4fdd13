import { ERASED } from '@app/kernel';
import type { PromptEvent } from '@app/spaces';
import { at, happened, rowsAfter } from '../../../test/fixtures/view';
import { prompts } from './prompts.projection';

const event = (revision: number, given: PromptEvent) => happened('prompt-p1', revision, given);
const added = event(0, { type: 'PromptAdded', data: { spaceId: 's1', title: 'T', text: 'x', tags: ['a'] } });
const row = {
  id: 'p1',
  spaceId: 's1',
  title: 'T',
  text: 'x',
  tags: ['a'],
  createdAt: at(0),
  updatedAt: at(0),
  revision: 0,
};

test('the view of prompts follows them', () => {
  expect(rowsAfter(prompts, added)).toEqual({ p1: row });
  expect(rowsAfter(prompts, added, event(1, { type: 'PromptChanged', data: { tags: [] } }))).toEqual({
    p1: { ...row, tags: [], updatedAt: at(1), revision: 1 },
  });
  expect(rowsAfter(prompts, added, event(1, { type: 'PromptDeleted', data: {} }))).toEqual({});
  expect(
    rowsAfter(
      prompts,
      event(0, { type: 'PromptAdded', data: { spaceId: 's1', title: ERASED, text: ERASED, tags: ERASED } }),
    ),
  ).toMatchObject({ p1: { text: ERASED } });
});
