import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { jsonOf } from '../json';
import { exportedEvent, exportedRemoval, exportFooter, exportHeader, type ExportItem } from './export-format';

const NEWLINE = 0x0a;

/** The lines of an export without their ends. Throws what the file system and gzip throw. */
export async function* exportLines(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytesOf(file)) {
    let bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE)) {
      yield bytes.subarray(0, end);
      bytes = bytes.subarray(end + 1);
    }
    rest = bytes;
  }
  if (rest.length > 0) yield rest;
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

/** What is wrong with a file as a file, in sentences: its end, its hash, its count. */
export const checkFile = async (file: string): Promise<readonly string[]> => {
  const digest = createHash('sha256');
  let last: Buffer | undefined;
  let lines = 0;
  let events = 0;
  for await (const line of exportLines(file)) {
    if (last !== undefined) digest.update(last).update('\n');
    if (lines === 0 && itemOf(line).kind !== 'header') return ['it does not begin as an export of this format does'];
    if (line.subarray(0, EVENT.length).equals(EVENT)) events += 1;
    last = line;
    lines += 1;
  }
  if (last === undefined) return ['it is empty'];
  const footer = itemOf(last);
  if (footer.kind !== 'footer') return ['it has no footer: it was cut off'];
  return [
    ...(footer.footer.sha256 === digest.digest('hex') ? [] : ['its bytes are not those that the footer was made over']),
    ...(footer.footer.events === events ? [] : [`it holds ${events} events, its footer says ${footer.footer.events}`]),
  ];
};

const EVENT = Buffer.from('{"stream":');

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
