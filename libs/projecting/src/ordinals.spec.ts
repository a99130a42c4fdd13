import { elsewhere } from '../../../test/fixtures/counters';
import { MemoryLog, positionOf } from '../../../test/fixtures/memory-log';
import { CountedOrdinals } from './ordinals';

const filled = async (count: number): Promise<MemoryLog> => {
  const log = new MemoryLog();
  await log.append(
    'a-1',
    Array.from({ length: count }, () => elsewhere()),
    'any',
  );
  return log;
};

describe('CountedOrdinals', () => {
  it('counts an empty log as none', async () => {
    expect(await new CountedOrdinals(await filled(0)).head()).toBe(0);
  });

  it('counts events, not positions', async () => {
    const log = await filled(2_500);
    log.events.splice(10, 5);
    const ordinals = new CountedOrdinals(log);
    expect(await ordinals.head()).toBe(2_495);
    expect(await ordinals.ordinalAt(positionOf(10))).toBe(10);
    expect(await ordinals.ordinalAt(positionOf(13))).toBe(10);
    expect(await ordinals.ordinalAt(positionOf(2_000))).toBe(1_995);
  });

  it('counts on what was appended since, without reading what it has counted', async () => {
    const log = await filled(1_500);
    const ordinals = new CountedOrdinals(log);
    await ordinals.head();
    await log.append('a-1', [elsewhere()], 'any');
    let read = 0;
    const readAll = log.readAll.bind(log);
    log.readAll = async (options) => {
      const page = await readAll(options);
      read += page.events.length;
      return page;
    };
    expect(await ordinals.head()).toBe(1_501);
    expect(await ordinals.ordinalAt(positionOf(1_501))).toBe(1_501);
    expect(read).toBeLessThanOrEqual(1_100);
  });
});
