import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { turnsEnd } from '../http';

/** Sends JSON at the turn's end, its bytes read as latin1, straight to the connection. Head and text leave in one write: a buffer would be a second one. */
export const sendJson = async (reply: FastifyReply, text: string): Promise<void> => {
  await turnsEnd();
  reply.hijack();
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  reply.raw
    .writeHead(200, { ...headers, 'content-type': 'application/json', 'content-length': text.length })
    .end(text, 'latin1');
};
