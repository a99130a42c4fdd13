import type { LeaseStatus } from '@app/coordination';
import { isHeldWhole } from './view-status';

const lease = (unit: number, holder: string | null, group = 'agents'): LeaseStatus => ({ group, unit, holder });

describe('a view that processes share', () => {
  it('runs when each slice has a holder', () => {
    expect(isHeldWhole([lease(0, 'a'), lease(1, 'b')], 'agents', 2)).toBe(true);
    expect(isHeldWhole([lease(0, 'a'), lease(1, null)], 'agents', 2)).toBe(false);
  });

  it('does not run on what two versions hold both, nor on slices of another view', () => {
    expect(isHeldWhole([lease(0, 'a'), lease(0, 'b')], 'agents', 2)).toBe(false);
    expect(isHeldWhole([lease(0, 'a'), lease(1, 'a', 'spaces')], 'agents', 2)).toBe(false);
  });
});
