import { idNumbered } from '../../../test/fixtures/invocations';
import { at, happened, rowsAfter } from '../../../test/fixtures/view';
import { restatements } from './restatements.projection';

const ID = idNumbered(1);
const stream = `restatement-${ID}`;
const terms = { from: at(0), to: at(9), prices: { at: at(1) }, currency: 'USD' };
const begun = happened(stream, 0, { type: 'RestatementBegun', data: { restatementId: ID, ...terms } }, 'key:k1');
const sums = {
  calls: 1,
  kept: 0,
  billed: '5',
  restated: '3',
  models: [{ key: 'm1', calls: 1, billed: '5', restated: '3' }],
  apiKeys: [{ key: null, calls: 1, billed: '5', restated: '3' }],
};

describe('restatements', () => {
  it('are there from their beginning, with their sums once they are closed', () => {
    const row = { id: ID, ...terms, actor: 'key:k1', startedAt: at(0), closedAt: null, sums: null };
    expect(rowsAfter(restatements, begun)).toEqual({ [ID]: row });
    expect(rowsAfter(restatements, begun, happened(stream, 2, { type: 'RestatementClosed', data: sums }))).toEqual({
      [ID]: { ...row, closedAt: at(2), sums },
    });
  });
});
