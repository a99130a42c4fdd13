import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../test/fixtures/until';
import { watchSize } from './watched-size';

describe('the size of a file that is being written', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'watched-size-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** As long as somebody else needs to be told ten times. */
  const anotherWhile = async (file: string): Promise<void> => {
    let times = 0;
    const stop = watchSize(file, 1, () => (times += 1));
    await until(() => times >= 10);
    stop();
  };

  it('is told once the file is there, until it is enough', async () => {
    const file = join(folder, 'copy');
    const told: number[] = [];
    const stop = watchSize(file, 1, (bytes) => told.push(bytes));
    writeFileSync(file, 'four');
    await until(() => told.includes(4));
    writeFileSync(file, 'and more');
    await until(() => told.includes(8));
    stop();
    const count = told.length;
    await anotherWhile(file);
    expect(told).toHaveLength(count);
  });

  it('is told no more to who failed at it, whose failure comes at the end', async () => {
    const file = join(folder, 'copy');
    writeFileSync(file, 'four');
    let times = 0;
    const stop = watchSize(file, 1, () => {
      times += 1;
      throw new Error('the terminal is gone');
    });
    await until(() => times > 0);
    await anotherWhile(file);
    expect(times).toBe(1);
    expect(stop).toThrow('the terminal is gone');
  });
});
