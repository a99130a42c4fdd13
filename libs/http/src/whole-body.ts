import type { IncomingMessage } from 'node:http';
import { GatheredBytes } from '@app/kernel';
import { errorCodes } from 'fastify';

/**
 * Reads the body of a request of at most `limit` bytes. Rejects a longer one by its announced length, or as soon as it is longer, and one that
 * does not come to its end. Fastify would hold every piece that comes, of which a client may send one for each byte.
 */
export const wholeBody = (raw: IncomingMessage, limit: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    if (Number(raw.headers['content-length']) > limit) return reject(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    const body = new GatheredBytes();
    const stop = (): void => void raw.off('data', onData).off('end', onEnd).off('error', onError);
    const onEnd = (): void => {
      stop();
      resolve(body.whole());
    };
    const onError = (error: Error): void => {
      stop();
      reject(error);
    };
    const onData = (piece: Buffer): void => {
      if (body.length + piece.length > limit) onError(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
      else body.add(piece);
    };
    raw.on('data', onData).on('end', onEnd).on('error', onError);
  });
