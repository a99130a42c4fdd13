import type { StoredEvent } from '@app/kernel';
import { LogTail } from './log-tail';
import { positionText } from './positions';

const at = (position: number): string => positionText(String(position));
const event = (position: number, data = ''): StoredEvent => ({
  id: `${position}`,
  type: 'Noted',
  stream: 'a-1',
  revision: position,
  position: at(position),
  data,
  metadata: '',
});

describe('the newest events in memory', () => {
  it("are bounded by what they hold, and where others' hold nothing by their number", () => {
    const tail = new LogTail();
    tail.reset(null);
    for (let position = 1; position <= 100; position += 1)
      tail.add(event(position, 'x'.repeat(1024 * 1024)), undefined);
    expect(tail.after(at(50), 1_000)).toBeUndefined();
    expect(tail.after(at(99), 1_000)?.events).toHaveLength(1);
    for (let position = 101; position <= 50_000; position += 1) tail.add(event(position), '2026-11-23T00:00:00Z');
    expect(tail.after(at(20_000), 1_000)).toBeUndefined();
    expect(tail.after(at(49_990), 1_000)?.events).toHaveLength(10);
  });

  it("are still others' in a page that was read before they were let go of", () => {
    const tail = new LogTail();
    tail.reset(null);
    const theirs = event(1);
    tail.add(theirs, '2026-11-23T00:00:00Z');
    tail.add(event(2), undefined);
    const page = tail.after(null, 10);
    for (let position = 3; position <= 20; position += 1) tail.add(event(position, 'x'.repeat(1024 * 1024)), undefined);
    expect(tail.has(null)).toBe(false);
    expect([...(page?.foreign ?? [])]).toEqual([[theirs, '2026-11-23T00:00:00Z']]);
  });

  it('let go of what was removed', () => {
    const tail = new LogTail();
    tail.reset(null);
    tail.add(event(1, 'secret'), undefined);
    tail.add(event(2, 'kept'), undefined);
    tail.empty(({ revision }) => revision < 2);
    expect(tail.after(null, 10)?.events.map(({ data }) => data)).toEqual(['', 'kept']);
  });
});
