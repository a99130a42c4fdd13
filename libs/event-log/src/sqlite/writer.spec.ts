import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newEvents } from '../contract/log-under-test.contract';
import { LOG_FILE } from './log-files';
import { openWriter, type Writer } from './writer';

const MIB = 1024 * 1024;
/** Where the write-ahead log is written back: 10,000 pages of 4 KiB. */
const LONG_MIB = 40;

let folder: string;
let writer: Writer;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-writer-'));
  writer = openWriter(folder, 0);
});
afterEach(() => {
  writer.close();
  rmSync(folder, { recursive: true });
});

/** Commits so many MiB, each by itself. */
const write = (mebibytes: number): void => {
  const text = JSON.stringify('x'.repeat(MIB));
  for (let number = 0; number < mebibytes; number += 1) {
    const [event] = newEvents(1);
    if (event === undefined) throw new Error('there is no event');
    const replies = writer.append([
      { kind: 'append', id: number, stream: 'large', expected: 'any', events: [{ ...event, data: text }], bytes: MIB },
    ]);
    expect(replies.map(({ kind }) => kind)).toEqual(['appended']);
    writer.checkpoint();
  }
};

describe('the write-ahead log', () => {
  it('is written back when it is long, so that it grows no further', () => {
    write(LONG_MIB * 2 + 10);
    expect(statSync(join(folder, `${LOG_FILE}-wal`)).size).toBeLessThan((LONG_MIB + 5) * MIB);
  });
});
