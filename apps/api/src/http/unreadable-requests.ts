import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { errorRegistry } from './error-registry';

/** Answers bytes that are no HTTP request (RFC 9112) with a problem document and closes: nothing behind them is read. */
export const refuseUnreadable = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return;
  const code = error.code === 'HPE_HEADER_OVERFLOW' ? 'too_large' : 'invalid_parameter';
  const { status, title } = errorRegistry[code];
  const detail = code === 'too_large' ? 'The headers are larger than 16 KiB.' : 'This is not a well-formed HTTP request.';
  const body = JSON.stringify({ type: `urn:problem:${code}`, title, status, code, detail, requestId: randomUUID() });
  socket.end(`HTTP/1.1 ${status} ${title}\r\ncontent-type: application/problem+json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
};
