import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { EventWriter } from './event-writer';

class Response extends EventEmitter {
  headersSent = false;
  sent = '';
  writeHead(): void {
    this.headersSent = true;
  }
  write(text: string): boolean {
    this.sent += text;
    return true;
  }
  end(text: string): void {
    this.sent += text;
  }
}

const open = () => {
  const raw = new Response();
  // What the writer uses of a reply.
  const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) } as unknown as FastifyReply;
  return { raw, writer: new EventWriter(reply, { add: () => undefined }) };
};

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a stream to a client', () => {
  it('is kept alive with comments of one line while its provider is silent, from 15 seconds on', () => {
    const { raw, writer } = open();
    writer.keepAlive();
    jest.advanceTimersByTime(14_999);
    expect(raw.headersSent).toBe(false);
    jest.advanceTimersByTime(1);
    expect(raw.sent).toBe(': keepalive\n');
    jest.advanceTimersByTime(10_000);
    writer.write('data: 1\n\n');
    jest.advanceTimersByTime(14_999);
    expect(raw.sent).toBe(': keepalive\ndata: 1\n\n');
    jest.advanceTimersByTime(1);
    writer.end('data: [DONE]\n\n');
    jest.advanceTimersByTime(60_000);
    expect(raw.sent).toBe(': keepalive\ndata: 1\n\n: keepalive\ndata: [DONE]\n\n');
  });

  it('says when its client left, once, and not when it ended itself', () => {
    for (const ended of [false, true]) {
      const { raw, writer } = open();
      const left = jest.fn();
      writer.onLeft = left;
      if (ended) writer.end('');
      raw.emit('close');
      expect(left).toHaveBeenCalledTimes(ended ? 0 : 1);
    }
  });
});
