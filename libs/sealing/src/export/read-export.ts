import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { givenFields } from '@app/kernel';
import { jsonOf } from '../json';
import { type Finding, MOST_LISTED } from '../verify/verification';
import { exportedEvent, exportedRemoval, exportFooter, exportHeader, type ExportItem } from './export-format';

const NEWLINE = 0x0a;

/** No event makes a line as long as this: those of other servers have 16 MiB at most, and JSON escapes them. */
const LONGEST_LINE = 64 * 1024 * 1024;

/**
 * The lines of an export without their line ends; an empty one replaces a line that is too long for an export. Throws
 * the errors of the file system and gzip.
 */
export async function* exportLines(file: string): AsyncGenerator<Buffer> {
  const begun = new BegunLine();
  for await (const chunk of bytesOf(file)) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      yield begun.endedBy(chunk.subarray(from, end));
      from = end + 1;
    }
    begun.add(chunk.subarray(from));
  }
  if (!begun.isEmpty) yield begun.endedBy(NO_BYTES);
}

const NO_BYTES = Buffer.alloc(0);

/** An unfinished line. Its pieces are joined once: otherwise each piece would copy a long line again. */
class BegunLine {
  private pieces: Buffer[] = [];
  private length = 0;

  get isEmpty(): boolean {
    return this.length === 0;
  }

  add(piece: Buffer): void {
    this.length += piece.length;
    if (this.length > LONGEST_LINE) this.pieces = [];
    else if (piece.length > 0) this.pieces.push(piece);
  }

  endedBy(piece: Buffer): Buffer {
    this.add(piece);
    const line = this.pieces.length === 1 ? (this.pieces[0] ?? NO_BYTES) : Buffer.concat(this.pieces);
    this.pieces = [];
    this.length = 0;
    return line;
  }
}

/** What each line says. */
export async function* exportItems(file: string): AsyncGenerator<ExportItem> {
  for await (const line of exportLines(file)) yield itemOf(line);
}

export const itemOf = (line: Buffer): ExportItem => {
  const value = jsonOf(line.toString('utf8'));
  const event = exportedEvent.safeParse(value).data;
  if (event !== undefined) return { kind: 'event', event };
  const removed = exportedRemoval.safeParse(value).data;
  if (removed !== undefined) return { kind: 'removed', ...removed };
  const footer = exportFooter.safeParse(value).data;
  if (footer !== undefined) return { kind: 'footer', ...footer };
  const header = exportHeader.safeParse(value).data;
  return header === undefined ? { kind: 'unreadable' } : { kind: 'header', header };
};

/** What is wrong with a file as a file: its order, its end, its hash, its count. */
export const checkFile = async (file: string): Promise<readonly Finding[]> => {
  const digest = createHash('sha256');
  const order = new LineOrder();
  let last: Buffer | undefined;
  let lines = 0;
  let events = 0;
  for await (const line of exportLines(file)) {
    if (last !== undefined) digest.update(last).update('\n');
    lines += 1;
    if (lines === 1 && itemOf(line).kind !== 'header')
      return [wrongFile('it does not begin as an export of this format does')];
    if (line.subarray(0, EVENT.length).equals(EVENT)) {
      events += 1;
      order.add(line, lines);
    }
    last = line;
  }
  if (last === undefined) return [wrongFile('it is empty')];
  const footer = itemOf(last);
  if (footer.kind !== 'footer') return [wrongFile('it has no footer: it was cut off'), ...order.findings];
  return [
    ...(footer.footer.sha256 === digest.digest('hex')
      ? []
      : [wrongFile('its bytes are not those that the footer was made over')]),
    ...(footer.footer.events === events
      ? []
      : [wrongFile(`it holds ${events} events, its footer says ${footer.footer.events}`)]),
    ...order.findings,
  ];
};

/** A fault of the file as a whole. */
export const wrongFile = (detail: string): Finding => ({
  kind: 'file',
  detail: `the file was changed: ${detail}`,
});

/** Finds the lines of events that come right after one of a later position: no log gives them in that order, sealed or not. */
class LineOrder {
  readonly findings: Finding[] = [];
  private before = '';

  add(line: Buffer, number: number): void {
    const position = POSITION.exec(line.toString('latin1', Math.max(0, line.length - LONGEST_END)))?.[1];
    if (position === undefined) return;
    const isLater = position > this.before;
    // Not the latest of all: otherwise one early event would count once for each event after it.
    this.before = position;
    if (isLater) return;
    const item = itemOf(line);
    const { stream, revision, id } = item.kind === 'event' ? item.event : {};
    if (this.findings.length < MOST_LISTED)
      this.findings.push({
        kind: 'file',
        detail: `line ${number} follows one of a later position`,
        position,
        ...givenFields({ stream, revision, id }),
      });
  }
}

const EVENT = Buffer.from('{"stream":');
/** How the line of an event ends, in at most so many bytes. */
const POSITION = /"position":"([^"]*)"\}$/;
const LONGEST_END = 200;

async function* bytesOf(file: string): AsyncGenerator<Buffer> {
  const raw = createReadStream(file, { highWaterMark: 1 << 20 });
  if (!file.endsWith('.gz')) {
    yield* raw as AsyncIterable<Buffer>;
    return;
  }
  const unzipped: Readable = raw.pipe(createGunzip({ chunkSize: 1 << 18 }));
  raw.on('error', (error) => unzipped.destroy(error));
  yield* unzipped as AsyncIterable<Buffer>;
}
