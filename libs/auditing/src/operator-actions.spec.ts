import { operatorActions } from './operator-actions';

const keyId = '01900000-0000-7000-8000-000000000001';
const userId = '01900000-0000-7000-8000-000000000002';

it('what is said of a key of an admin is erased with the admin', () => {
  expect(
    operatorActions.owner?.({
      type: 'AdminKeyRequested',
      data: { keyId, userId, by: 'Ada', reason: 'The only key was revoked' },
    }),
  ).toEqual({ userId });
  expect(operatorActions.owner?.({ type: 'BlobSweepRequested', data: {} })).toEqual({});
});
