import type { FastifyReply } from 'fastify';

/** A file that people uploaded. */
export interface SentFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** What its bytes were found to be; by default nothing is said of them. */
  readonly mediaType?: string;
}

/** Says of an answer that it is a file which people uploaded. Browsers save it, and never run it in the pages of this origin. */
export const asFile = (
  reply: FastifyReply,
  { name, size, mediaType = 'application/octet-stream' }: SentFile,
): FastifyReply =>
  reply
    .header('content-type', mediaType)
    .header('content-length', size)
    .header(
      'content-disposition',
      `attachment; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16)}`)}`,
    )
    .header('content-security-policy', "sandbox; default-src 'none'")
    .header('cross-origin-resource-policy', 'same-origin');
