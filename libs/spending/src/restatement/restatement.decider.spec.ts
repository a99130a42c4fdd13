import * as fc from 'fast-check';
import { idNumbered } from '../../../../test/fixtures/invocations';
import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import { type RestatementCommand, restatementDecider, type RestatementTerms } from './restatement.decider';
import type { RestatedCall, RestatementEvent } from './restatement.events';

const ID = idNumbered(1);
const KEY = idNumbered(2);
const AT = '2026-11-01T00:00:00.000Z';
const terms: RestatementTerms = { from: AT, to: '2026-12-01T00:00:00.000Z', prices: { at: AT }, currency: 'USD' };
const begun: RestatementEvent = { type: 'RestatementBegun', data: { restatementId: ID, ...terms } };
const call = (number: number, facts: Partial<RestatedCall> = {}): RestatedCall => ({
  id: idNumbered(number),
  at: AT,
  model: 'm1',
  apiKeyId: KEY,
  billed: '100',
  cost: '70',
  priceVersion: '0123456789abcdef',
  ...facts,
});
const entered = (...calls: RestatedCall[]): RestatementEvent => ({ type: 'InvocationsRestated', data: { calls } });

describe('a second ledger', () => {
  it('begins once', () => given(restatementDecider).when({ type: 'Begin', restatementId: ID, terms }).yields(begun));

  it('takes what stands behind its last entry', () => {
    given(restatementDecider, begun)
      .when({ type: 'Enter', after: null, calls: [call(10)] })
      .yields(entered(call(10)));
    given(restatementDecider, begun, entered(call(10)))
      .when({ type: 'Enter', after: { at: AT, id: idNumbered(10) }, calls: [call(11)] })
      .yields(entered(call(11)));
  });

  it('takes nothing twice', () =>
    given(restatementDecider, begun, entered(call(10)))
      .when({ type: 'Enter', after: null, calls: [call(10)] })
      .yields());

  it('takes nothing before it begins, and leaves what is closed as it is', () => {
    given(restatementDecider)
      .when({ type: 'Enter', after: null, calls: [call(10)] })
      .rejects('conflict');
    given(restatementDecider).when({ type: 'Close', after: null }).rejects('conflict');
    const closed: RestatementEvent = {
      type: 'RestatementClosed',
      data: { calls: 0, kept: 0, billed: '0', restated: '0', models: [], apiKeys: [] },
    };
    given(restatementDecider, begun, closed)
      .when({ type: 'Enter', after: null, calls: [call(10)] })
      .yields();
    given(restatementDecider, begun, closed).when({ type: 'Close', after: null }).yields();
  });

  it('closes with its sums', () => {
    const calls = [
      call(10),
      call(11, { model: 'm2', billed: '5', cost: '5', priceVersion: null }),
      call(12, { apiKeyId: null, cost: '130' }),
    ];
    given(restatementDecider, begun, entered(...calls))
      .when({ type: 'Close', after: { at: AT, id: idNumbered(12) } })
      .yields({
        type: 'RestatementClosed',
        data: {
          calls: 3,
          billed: '205',
          restated: '205',
          kept: 1,
          models: [
            { key: 'm1', calls: 2, billed: '200', restated: '200' },
            { key: 'm2', calls: 1, billed: '5', restated: '5' },
          ],
          apiKeys: [
            { key: KEY, calls: 2, billed: '105', restated: '75' },
            { key: null, calls: 1, billed: '100', restated: '130' },
          ],
        },
      });
  });

  it('does not close behind calls that others entered meanwhile', () =>
    given(restatementDecider, begun, entered(call(10)), entered(call(12)))
      .when({ type: 'Close', after: { at: AT, id: idNumbered(11) } })
      .yields());

  it('decides each command once', () => {
    const number = fc.integer({ min: 10, max: 14 });
    decidesOnce(
      restatementDecider,
      fc.oneof(
        fc.constant<RestatementCommand>({ type: 'Begin', restatementId: ID, terms }),
        fc.constant<RestatementCommand>({ type: 'Close', after: null }),
        fc.tuple(fc.option(number), number).map(([after, next]): RestatementCommand => ({
          type: 'Enter',
          after: after === null ? null : { at: AT, id: idNumbered(after) },
          calls: [call(next + 10)],
        })),
      ),
    );
  });
});
