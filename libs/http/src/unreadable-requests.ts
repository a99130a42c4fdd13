import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { GatewayError } from './envelope';
import { errorRegistry } from './error-registry';

interface UnreadableRequest {
  readonly code: string;
  /** The read in which the parser stopped, most often the first: a `Buffer`, which its types do not say. */
  readonly rawPacket: unknown;
}

interface Fault {
  readonly code: 'invalid_parameter' | 'request_timeout' | 'too_large';
  readonly detail: string;
}

const MALFORMED: Fault = { code: 'invalid_parameter', detail: 'This is not a well-formed HTTP request.' };
const faults: Readonly<Record<string, Fault>> = {
  HPE_HEADER_OVERFLOW: { code: 'too_large', detail: 'The headers are larger than 16 KiB.' },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request_timeout',
    detail: 'The request took too long to come. Send it over a better line, or in parts.',
  },
};

/** The first line of a request to the compatible API. */
const COMPATIBLE = /^[A-Z]{3,10} \/api\/compat\/v1[/? ]/;

/**
 * Answers bytes that are not HTTP (RFC 9112), and requests that do not come to their end, in the form of the API that they name,
 * if that can be seen, and closes the connection.
 */
export const rejectUnreadable = (error: UnreadableRequest, socket: Socket): void => {
  const { rawPacket } = error;
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return;
  const { code, detail } = faults[error.code] ?? MALFORMED;
  const { status, title } = errorRegistry[code];
  const requestId = randomUUID();
  const isCompatible = Buffer.isBuffer(rawPacket) && COMPATIBLE.test(rawPacket.toString('latin1', 0, 64));
  const body = isCompatible
    ? new GatewayError(status, detail, { code }).body
    : JSON.stringify({ type: `urn:problem:${code}`, title, status, code, detail, requestId });
  const type = isCompatible ? 'application/json' : 'application/problem+json';
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\ncontent-type: ${type}; charset=utf-8\r\nx-request-id: ${requestId}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  // Its body may go on, and the request would be done that was told otherwise.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroySoon();
};
