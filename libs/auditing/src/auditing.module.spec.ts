import { Decisions } from '@app/kernel';
import { openContext } from '../../../test/fixtures/context';
import { AuditLog } from './audit-log';
import { AuditingModule } from './auditing.module';
import { FOREIGN_ACCOUNT } from './foreign-account';
import { operatorActions } from './operator-actions';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => (context = await openContext(AuditingModule)));
afterAll(() => context.close());

describe('the module of auditing', () => {
  it('exports what reads the log for auditors', async () => {
    const { meta, module } = context;
    const request = { type: 'BlobSweepRequested', data: {} } as const;
    await module.get(Decisions).transact(operatorActions, 'sweep', request, meta());
    const { events, next } = await module
      .get(AuditLog, { strict: false })
      .page({}, { order: 'asc', after: null, limit: 10 });
    expect([events.map(({ type }) => type), next]).toEqual([['BlobSweepRequested'], null]);
  });

  it('counts nothing of other programs where none can write to the log', () =>
    expect(context.module.get(FOREIGN_ACCOUNT, { strict: false })).toBeUndefined());
});
