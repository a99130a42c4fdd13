import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

/** A file of an archive. */
export interface ZipEntry {
  readonly name: string;
  readonly changedAt: Date;
  /** Whether it gets smaller by compressing it. */
  readonly compress: boolean;
  /** Opened in its turn. */
  readonly open: () => Promise<AsyncIterable<Buffer>>;
}

/** An archive that is made as it is read, one file after the other. It breaks off where a file cannot be read, and reads nothing more when it is destroyed. */
export const zipOf = (entries: readonly ZipEntry[]): Readable => {
  const zip = new ZipFile();
  // Its type says less than it is.
  const output = zip.outputStream as Readable;
  let source: Readable | undefined;
  zip.on('error', (error) => output.destroy(error));
  output.once('close', () => source?.destroy());
  for (const { name, changedAt: mtime, compress, open } of entries)
    zip.addReadStreamLazy(name, { mtime, compress }, (begin) => {
      open().then(
        (pieces) => {
          source = Readable.from(pieces);
          source.once('error', (error) => output.destroy(error));
          if (output.destroyed) source.destroy();
          else begin(null, source);
        },
        (error: unknown) => output.destroy(error as Error),
      );
    });
  zip.end();
  return output;
};
