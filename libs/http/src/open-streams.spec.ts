import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { EventStream } from './event-stream';
import { OpenStreams } from './open-streams';

// All that is asked of a request before its first check.
const requestOf = (method: string): FastifyRequest => ({ method, server: {} }) as unknown as FastifyRequest;

test('a stop ends the event streams that readers follow, with what was sent', async () => {
  const streams = new OpenStreams();
  const [followed, posted] = [new EventStream(), new EventStream()];
  streams.add(followed.body, requestOf('GET'));
  streams.add(posted.body, requestOf('POST'));
  followed.begin('following');
  const read = text(followed.body);
  streams.endFollowed();
  expect(await read).toBe(': following\n\n');
  await followed.gone;
  expect(await followed.send('1', '{}')).toBe(false);
  await turn();
  expect(posted.open).toBe(true);
  posted.body.destroy();
});
