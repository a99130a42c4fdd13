import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { HEAD_FILE } from './log-files';
import { positionText } from './positions';

/**
 * The last acknowledged position, in a small file beside the database: written after each commit and before its
 * answers, never synced. It survives the process; after a power failure it may be old, never ahead. So a log that
 * ends before it has lost acknowledged events.
 */
export class HeadMark {
  private readonly file: number;

  constructor(folder: string, position: number) {
    const path = join(folder, HEAD_FILE);
    this.file = openSync(path, existsSync(path) ? 'r+' : 'w+');
    this.write(position);
  }

  write(position: number): void {
    writeSync(this.file, line(position), 0);
  }

  close(): void {
    closeSync(this.file);
  }
}

/** Reads the marked position; 0 if there is none that can be trusted. */
export const readHeadMark = (folder: string): number => {
  const path = join(folder, HEAD_FILE);
  if (!existsSync(path)) return 0;
  const text = readFileSync(path, 'utf8');
  const position = Number(text.slice(0, 16));
  return Number.isSafeInteger(position) && text === line(position) ? position : 0;
};

const line = (position: number): string =>
  `${positionText(position)} ${crc32(positionText(position)).toString(16).padStart(8, '0')}\n`;
