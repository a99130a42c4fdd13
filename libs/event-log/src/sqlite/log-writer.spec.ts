import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { NewEvent } from '@app/kernel';
import { until } from '../../../../test/fixtures/until';
import { newEvents } from '../contract/log-under-test.contract';
import { KnownLog } from './known-log';
import { LogWriter } from './log-writer';

let folder: string;
let known: KnownLog;
let writer: LogWriter;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'log-writer-'));
  known = new KnownLog();
  writer = await LogWriter.open(folder, known);
});
afterEach(async () => {
  await writer.close();
  rmSync(folder, { recursive: true });
});

const append = (events: readonly NewEvent[]) => writer.append('a-1', events, 'any', 100);
/** What is private to the writer: what becomes of its thread shows in nothing that it offers. */
const threadOf = (of: LogWriter): Worker => (of as unknown as { thread: Worker }).thread;
/** Makes the thread fail, which the writer offers nobody: a message that it cannot read. */
const killThread = async (): Promise<void> => {
  const thread = threadOf(writer);
  thread.postMessage(null);
  await new Promise((resolve) => thread.once('exit', resolve));
};

describe('the writer of the log', () => {
  it('is replaced when its thread dies: what waited is answered as unknown, and writing goes on', async () => {
    await append(newEvents(2));
    const waiting = append(newEvents(1));
    const killed = killThread();

    await expect(waiting).rejects.toMatchObject({ name: 'Unavailable', outcome: 'unknown' });
    await killed;
    await expect(append(newEvents(1))).rejects.toMatchObject({ name: 'Unavailable', outcome: 'none' });
    await until(() => writer.down === undefined);

    expect((await append(newEvents(1))).revision).toBe(known.head - 1);
  });

  it('closes although its thread is dead', async () => {
    await killThread();
  });

  it('rejects more than may wait for the disk', async () => {
    const large = newEvents(1);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => writer.append('a-1', large, 'any', 8 * 1024 * 1024)),
    );

    const rejected = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(rejected).toHaveLength(12);
    for (const { reason } of rejected)
      expect(reason).toMatchObject({
        name: 'Unavailable',
        outcome: 'none',
        reason: 'too many writes are waiting for the disk',
      });
  });
});

describe('the thread of a log that is closed', () => {
  const cutOff = jest.spyOn(Worker.prototype, 'terminate');
  beforeEach(() => cutOff.mockClear());
  afterAll(() => cutOff.mockRestore());

  it('has closed its database and ended by itself', async () => {
    await append(newEvents(3));
    const thread = threadOf(writer);
    await writer.close();
    expect(thread.threadId).toBe(-1);
    expect(readdirSync(folder).toSorted()).toEqual(['events.sqlite', 'head']);
    expect(cutOff).not.toHaveBeenCalled();
    writer = await LogWriter.open(folder, known);
  });

  it('ends by itself also where it could not open the log, or was about to open it again', async () => {
    await append(newEvents(3));
    await writer.close();
    writeFileSync(join(folder, 'events.sqlite'), Buffer.alloc(8_192, 'no database'));
    await expect(LogWriter.open(folder, known)).rejects.toThrow('the log is damaged');
    expect(cutOff).not.toHaveBeenCalled();
    rmSync(join(folder, 'events.sqlite'));
    rmSync(join(folder, 'head'));
    writer = await LogWriter.open(folder, new KnownLog());
  });
});
