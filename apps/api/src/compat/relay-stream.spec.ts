import { type BodyReader, type Exchange, type TokenUsage, UpstreamFailure } from '@app/models';
import { chunk, DONE, usageChunk } from '../../../../test/fixtures/upstream-double';
import { ChatStream } from './chat-stream';
import type { EventWriter } from './event-writer';
import { relayStream } from './relay-stream';

const event = (data: object): Buffer => Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
const END = event(chunk({}, 'stop'));
const MANY = event(chunk({ content: 'x'.repeat(100_000) }));

/** A provider that a test speaks for, and a client that does not read. */
const relaying = () => {
  let reader: BodyReader | undefined;
  const writer = {
    onLeft: (): void => undefined,
    begun: true,
    keepAlive: () => undefined,
    drained: () => undefined,
    write: () => false,
    stop: jest.fn(),
    rest: () => undefined,
    end: () => undefined,
  };
  const exchange = {
    follow: (by: BodyReader) => (reader = by),
    pause: jest.fn(),
    resume: jest.fn(),
    release: jest.fn(),
    abort: jest.fn(),
  };
  const stream = new ChatStream({ model: 'm', includeUsage: true, usage: () => null });
  const abort = jest.fn(() => reader?.failed(new UpstreamFailure('aborted')));
  const outcome = relayStream({
    // Both stand for all that a relay asks of an exchange and of a writer: their classes have private members.
    exchange: exchange as unknown as Exchange,
    stream,
    writer: writer as unknown as EventWriter,
    begun: () => undefined,
    abort,
  });
  const say = async (bytes: Buffer): Promise<void> => {
    reader?.data(bytes);
    await new Promise(setImmediate);
  };
  return { writer, exchange, stream, abort, outcome, say };
};

afterEach(() => jest.useRealTimers());

describe('a stream whose client does not read', () => {
  it('is held up until the answer has ended, and read to its usage then', async () => {
    const { exchange, stream, outcome, say } = relaying();
    await say(MANY);
    expect(exchange.pause).toHaveBeenCalledTimes(1);
    await say(Buffer.concat([MANY, END]));
    await say(event(chunk({})));
    expect([
      exchange.pause.mock.calls.length,
      stream.pace({ outputTokens: 9, outputTokenDetails: { reasoningTokens: 0 } } as TokenUsage),
    ]).toEqual([1, undefined]);
    await say(event(usageChunk({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 })));
    await say(Buffer.from(DONE));
    expect([await outcome, stream.report]).toEqual([
      undefined,
      { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    ]);
  });

  it('is held up again where no end comes behind that', async () => {
    const { exchange, say } = relaying();
    await say(END);
    for (let count = 0; count < 10; count += 1) await say(MANY);
    expect(exchange.pause).not.toHaveBeenCalled();
    await say(MANY);
    expect(exchange.pause).toHaveBeenCalledTimes(1);
  });
});

describe('a stream whose client leaves', () => {
  it('before its end is cut', async () => {
    const { writer, abort, outcome, say } = relaying();
    await say(MANY);
    writer.onLeft();
    expect(abort).toHaveBeenCalledTimes(1);
    expect(await outcome).toMatchObject({ kind: 'aborted' });
  });

  it('behind its end is read on, a mebibyte and five seconds at most', async () => {
    const many = relaying();
    await many.say(END);
    many.writer.onLeft();
    expect([many.exchange.resume.mock.calls.length, many.abort.mock.calls.length]).toEqual([1, 0]);
    for (let count = 0; count < 11; count += 1) await many.say(MANY);
    expect(await many.outcome).toMatchObject({ kind: 'aborted' });

    const silent = relaying();
    await silent.say(END);
    jest.useFakeTimers();
    silent.writer.onLeft();
    jest.advanceTimersByTime(4_999);
    expect(silent.abort).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(await silent.outcome).toMatchObject({ kind: 'aborted' });
  });

  it('while its usage is waited for ends like any other, and says that it was left', async () => {
    const { writer, exchange, outcome, say } = relaying();
    await say(END);
    writer.onLeft();
    await say(Buffer.from(DONE));
    expect(await outcome).toMatchObject({ kind: 'aborted' });
    expect(exchange.release).toHaveBeenCalledTimes(1);
  });
});
