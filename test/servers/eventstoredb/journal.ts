import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import type { Proposed } from './recorded-event';

/** One write to the log, as a line of JSON. Without events it is an empty append, which takes room all the same. */
export interface JournalEntry {
  readonly stream: string;
  readonly created: number;
  readonly isTombstone: boolean;
  readonly events: readonly Proposed[];
}

type Line = readonly [
  stream: string,
  created: number,
  isTombstone: boolean,
  events: readonly (readonly [string, string, boolean, string, string])[],
];

/** The file that outlives the server's process. What was acknowledged is with the operating system: it survives SIGKILL, not power loss. */
export class Journal {
  private file: number | undefined;

  constructor(private readonly path: string) {}

  /** What the file holds; a torn last line was never acknowledged and is cut off. */
  *entries(): Iterable<JournalEntry> {
    if (!existsSync(this.path)) return;
    const bytes = readFileSync(this.path);
    const whole = bytes.lastIndexOf('\n') + 1;
    if (whole < bytes.length) truncateSync(this.path, whole);
    for (let from = 0, to = bytes.indexOf('\n'); to >= 0; from = to + 1, to = bytes.indexOf('\n', from))
      yield parseLine(bytes.toString('utf8', from, to));
  }

  add({ stream, created, isTombstone, events }: JournalEntry): void {
    this.file ??= openSync(this.path, 'a');
    const line: Line = [
      stream,
      created,
      isTombstone,
      events.map(({ id, type, isJson, data, metadata }) => [id, type, isJson, base64(data), base64(metadata)] as const),
    ];
    writeSync(this.file, `${JSON.stringify(line)}\n`);
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }
}

const parseLine = (text: string): JournalEntry => {
  const [stream, created, isTombstone, events] = JSON.parse(text) as Line;
  return {
    stream,
    created,
    isTombstone,
    events: events.map(([id, type, isJson, data, metadata]) => ({
      id,
      type,
      isJson,
      data: Buffer.from(data, 'base64'),
      metadata: Buffer.from(metadata, 'base64'),
    })),
  };
};

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
