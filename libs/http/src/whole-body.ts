import { GatheredBytes } from '@app/kernel';
import { errorCodes, type FastifyRequest } from 'fastify';

/**
 * Reads the body of a request up to the limit of its route. `done` is called once: with its bytes, or with why there are none. Fastify
 * would hold every piece that comes, of which a client may send one for each byte.
 */
export const wholeBody = (
  { raw, headers, routeOptions }: FastifyRequest,
  done: (error: Error | null, body?: Buffer) => void,
): void => {
  const limit = routeOptions.bodyLimit;
  const body = new GatheredBytes();
  const end = (error: Error | null): void => {
    raw.off('data', onData).off('end', onEnd).off('error', end);
    done(error, error === null ? body.whole() : undefined);
  };
  const onEnd = (): void => end(null);
  const onData = (piece: Buffer): void => {
    if (body.length + piece.length > limit) end(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    else body.add(piece);
  };
  if (Number(headers['content-length']) > limit) return done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
  raw.on('data', onData).on('end', onEnd).on('error', end);
};
