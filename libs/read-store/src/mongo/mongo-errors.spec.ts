import { isAccessDenied, isUnavailable } from '@app/kernel';
import { areDuplicateKeys, codeOf, explained, hasLabel } from './mongo-errors';

/** Errors as the driver was seen to throw them. */
const thrown = (name: string, fields: object = {}): Error => Object.assign(new Error('x'), { name, ...fields });

describe('an error of MongoDB', () => {
  it.each([
    ['a broken connection', thrown('MongoNetworkError')],
    ['no server to choose', thrown('MongooseServerSelectionError')],
    ['a bulk write whose connection broke', thrown('MongoBulkWriteError', { errorLabels: [] })],
    [
      'a connection given up for an unanswered heartbeat',
      thrown('PoolClearedOnNetworkError', { errorLabels: ['ResetPool'] }),
    ],
    ['a socket that broke while it was written to', thrown('Error', { code: 'ECONNRESET', syscall: 'write' })],
    [
      'a server that is no primary any more',
      thrown('MongoServerError', { code: 10107, codeName: 'NotWritablePrimary' }),
    ],
    [
      'a conflict of transactions',
      thrown('MongoServerError', { code: 112, errorLabels: ['TransientTransactionError'] }),
    ],
  ])('is Unavailable: %s', (_, error) => {
    const seen = explained('views', error, 'unknown');
    expect(isUnavailable(seen)).toBe(true);
    expect(seen).toMatchObject({ dependency: 'views', outcome: 'unknown', cause: error });
  });

  it.each([
    ['NotYetInitialized', 94],
    ['UnsatisfiableWriteConcern', 100],
    ['ReadConcernMajorityNotAvailableYet', 134],
    ['KeyNotFound', 211],
    ['ElectionInProgress', 216],
    ['CursorNotFound', 43],
    ['CursorKilled', 237],
    ['SnapshotTooOld', 239],
    ['TransactionExceededLifetimeLimitSeconds', 290],
    ['TemporarilyUnavailable', 365],
    ['UserWritesBlocked', 371],
    ['AdmissionQueueOverflow', 433],
    ['StaleConfig', 13388],
  ])('is Unavailable, and lays nothing that was written aside: %s', (codeName, code) => {
    expect(isUnavailable(explained('views', thrown('MongoServerError', { code, codeName }), 'none'))).toBe(true);
  });

  it('is Unavailable where a server has too much to do, whatever its code', () => {
    const error = thrown('MongoServerError', { code: 999_999, errorLabels: ['SystemOverloadedError'] });
    expect(isUnavailable(explained('views', error, 'none'))).toBe(true);
  });

  it('is AccessDenied for a rejected sign-in: waiting does not help', () => {
    const error = thrown('MongoServerError', { code: 18, codeName: 'AuthenticationFailed' });
    const seen = explained('views', error, 'none');
    expect([isUnavailable(seen), isAccessDenied(seen)]).toEqual([true, true]);
    expect(seen).toMatchObject({ reason: 'MongoDB rejects the user (AuthenticationFailed)', cause: error });
  });

  it.each([
    ['a key that is taken', thrown('MongoServerError', { code: 11000 })],
    ['a document that is too large', thrown('MongoServerError', { code: 10334 })],
    ['a transaction that fits in no cache, which half of it may', thrown('MongoServerError', { code: 388 })],
    ['wrong use of the driver', thrown('MongoInvalidArgumentError')],
    ['an error of ours', new TypeError('count holds no number')],
  ])('stays what it is: %s', (_, error) => expect(explained('views', error, 'none')).toBe(error));

  it('keeps its code and its labels when it is explained', () => {
    const seen = explained(
      'views',
      thrown('MongoServerError', { code: 112, errorLabels: ['TransientTransactionError'] }),
      'none',
    );
    expect([codeOf(seen), hasLabel(seen, 'TransientTransactionError'), hasLabel(seen, 'RetryableWriteError')]).toEqual([
      112,
      true,
      false,
    ]);
  });

  it('tells bulk writes that failed for taken keys alone', () => {
    const bulk = (...codes: number[]) =>
      thrown('MongoBulkWriteError', { code: 11000, writeErrors: codes.map((code) => ({ code })) });
    expect([
      areDuplicateKeys(bulk(11000, 11000)),
      areDuplicateKeys(bulk(11000, 112)),
      areDuplicateKeys(thrown('MongoServerError', { code: 11000 })),
    ]).toEqual([true, false, true]);
  });
});
