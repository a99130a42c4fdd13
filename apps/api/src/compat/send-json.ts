import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Sends JSON, its bytes read as latin1, straight to the connection. Head and text leave in one write: a buffer would be a second one. */
export const sendJson = (reply: FastifyReply, text: string): void => {
  reply.hijack();
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  reply.raw
    .writeHead(200, { ...headers, 'content-type': 'application/json', 'content-length': text.length })
    .end(text, 'latin1');
};
