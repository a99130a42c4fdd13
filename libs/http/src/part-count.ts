import type { IncomingHttpHeaders } from 'node:http';

/**
 * Counts the parts of a multipart body by their delimiters (RFC 2046, 5.1.1) while it is read: the parser skips parts
 * with an invalid header without a word. Start it before reading; resolves with the count once the whole body was
 * read.
 */
export const countParts = ({
  raw,
  headers,
}: {
  readonly raw: NodeJS.EventEmitter;
  readonly headers: IncomingHttpHeaders;
}): (() => number) => {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;]+))/i.exec(headers['content-type'] ?? '') ?? [];
  const delimiter = Buffer.from(`\r\n--${quoted ?? plain ?? ''}`);
  let delimiters = 0;
  /** Bytes that may begin a delimiter. The first delimiter needs no line break before it. */
  let held = Buffer.from('\r\n');
  raw.on('data', (chunk: Buffer) => {
    const bytes = Buffer.concat([held, chunk]);
    for (let at = bytes.indexOf(delimiter); at !== -1; at = bytes.indexOf(delimiter, at + delimiter.length))
      delimiters += 1;
    held = bytes.subarray(Math.max(0, bytes.length - delimiter.length + 1));
  });
  // The last delimiter ends the body.
  return () => delimiters - 1;
};
