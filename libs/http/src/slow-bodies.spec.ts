import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { OpenAnswers } from './open-answers';
import { endBody, SlowBodies } from './slow-bodies';

const MINUTE = 60_000;
const KIB = 1024;
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** A request whose body somebody reads, and what they were told. */
const opened = () => {
  const socket = new Socket();
  const came = { bytes: 0 };
  Object.defineProperty(socket, 'bytesRead', { get: () => came.bytes });
  const raw = new IncomingMessage(socket);
  const told: unknown[] = [];
  raw.on('error', (error) => told.push(error));
  const open = new OpenAnswers();
  open.add({ request: { raw } as FastifyRequest, response: new ServerResponse(raw) });
  const slow = new SlowBodies(open);
  stops.push(() => slow.onModuleDestroy());
  return { slow, raw, came, told };
};

describe('a body', () => {
  it('is late once less than 64 KiB came in a minute, whatever came in those before', () => {
    const { slow, came, told } = opened();
    slow.look(0);
    for (const bytes of [KIB * KIB, 64 * KIB, 64 * KIB]) {
      came.bytes += bytes;
      slow.look(MINUTE);
    }
    expect(told).toEqual([]);
    came.bytes += 64 * KIB - 1;
    slow.look(MINUTE - 1);
    expect(told).toEqual([]);
    slow.look(1);
    expect(told).toEqual([expect.objectContaining({ code: 'request_timeout' })]);
  });

  it('is not late while what came waits for whoever reads it', () => {
    const { slow, raw, told } = opened();
    slow.look(0);
    raw.push('some of it');
    for (let minutes = 0; minutes < 5; minutes += 1) slow.look(MINUTE);
    expect(told).toEqual([]);
    raw.read();
    slow.look(MINUTE);
    expect(told).toHaveLength(1);
  });

  it('is late once: whoever reads it is told no second time', () => {
    const { slow, raw, told } = opened();
    for (let minutes = 0; minutes < 3; minutes += 1) slow.look(MINUTE);
    expect(endBody(raw)).toBe(false);
    expect(told).toHaveLength(1);
  });

  it('that is whole, or that nobody reads, is not ended', () => {
    const { raw, told } = opened();
    raw.complete = true;
    expect(endBody(raw)).toBe(false);
    expect(told).toEqual([]);
    expect(endBody(new IncomingMessage(new Socket()))).toBe(false);
  });

  it('is not late because the process stood still', () => {
    jest.useFakeTimers();
    const { told } = opened();
    jest.advanceTimersByTime(2_000);
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 5 * MINUTE);
    jest.advanceTimersToNextTimer();
    expect(told).toEqual([]);
    jest.restoreAllMocks();
  });
});
