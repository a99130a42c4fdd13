import { memoryProjecting, opened, stored } from '../../../test/fixtures/counters';
import { auditTrail, auditTrailRow } from './audit-trail.projection';

describe('the audit trail', () => {
  it('holds where an event stands and who recorded it, and none of its data', () => {
    const context = {
      id: 'e1',
      stream: 'agent-a-1',
      revision: 3,
      position: '07',
      recordedAt: '2026-01-01T00:00:00.000Z',
      actor: 'user:u1',
      commandId: 'c1',
      correlationId: 'k1',
    };
    const operations = auditTrail(['AgentRenamed']).apply({ type: 'AgentRenamed', data: { name: 'Secret' }, context });
    const row = {
      id: 'e1',
      stream: 'agent-a-1',
      revision: 3,
      category: 'agent',
      type: 'AgentRenamed',
      actor: 'user:u1',
      correlationId: 'k1',
      recordedAt: '2026-01-01T00:00:00.000Z',
    };
    expect(operations).toEqual([{ op: 'put', key: '07', row }]);
    expect(auditTrailRow.parse(row)).toEqual(row);
  });

  it('has events in it whose data nobody can read', async () => {
    const { log, readStore, projecting } = memoryProjecting({
      projections: [auditTrail(['CounterOpened', 'Counted'])],
    });
    await projecting.start();
    const { position } = await log.append('counter-a', [opened('a'), stored('Counted', { by: 'many' })], 'noStream');
    expect(await projecting.waitFor('audit-trail', position, 10_000)).toBe(true);
    expect((await readStore.get('audit-trail', position))?.row).toMatchObject({
      stream: 'counter-a',
      revision: 1,
      type: 'Counted',
    });
    await projecting.stop();
  });
});
