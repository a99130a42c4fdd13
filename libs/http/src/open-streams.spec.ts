import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { DomainError } from '@app/kernel';
import type { Admission } from './admission';
import { EventStream } from './event-stream';
import { OpenStreams } from './open-streams';

// All that is asked of a request.
const requestOf = (method: string): FastifyRequest => ({ method }) as FastifyRequest;
// The cast: only what is called is there.
const streamsOf = (admittedStill: Admission['admittedStill']) => new OpenStreams({ admittedStill } as Admission);

test('a stop ends the event streams that readers follow, with what was sent', async () => {
  const streams = streamsOf(async () => undefined);
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

describe('when the key of its reader is revoked', () => {
  const streams = streamsOf(async () => Promise.reject(new DomainError('unauthenticated')));
  const watched = (stream: Readable, end?: () => void): Readable => {
    streams.add(stream, requestOf('GET'), end);
    return stream;
  };

  test('a stream of events ends, and says why where it can', async () => {
    const [plain, telling] = [new EventStream(), new EventStream()];
    telling.onRejected((reason) => void telling.send('7', (reason as { code: string }).code));
    const heard = await Promise.all([text(watched(plain.body)), text(watched(telling.body))]);
    expect(heard).toEqual(['', 'id: 7\ndata: unauthenticated\n\n']);
  });

  test('a file is broken off: nobody takes a part for the whole', async () => {
    await expect(text(watched(new PassThrough()))).rejects.toThrow('Premature close');
  });

  test('one that another process answers is broken off unless that process has ended it', async () => {
    const body = new PassThrough();
    await expect(text(watched(body, () => void body.write('told')))).rejects.toThrow('Premature close');
    const ended = new PassThrough();
    expect(await text(watched(ended, () => void ended.end('told')))).toBe('told');
  });

  test('one that is watched already keeps the end it has', async () => {
    const body = new PassThrough();
    // It ends a little later, before the next check.
    streams.add(body, requestOf('GET'), () => void setTimeout(() => body.end('told'), 200));
    streams.add(body, requestOf('GET'));
    expect(await text(body)).toBe('told');
  });
});
