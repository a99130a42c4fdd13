import { begunExchange } from '../../../../test/fixtures/begun-exchange';
import { MAX_ANSWER_BYTES } from './exchange';
import { UpstreamFailure } from './failure';
import { streamedEvents } from './streamed-events';

const read = async (events: AsyncIterable<unknown>) => {
  const seen: unknown[] = [];
  try {
    for await (const event of events) seen.push(event);
    return { seen };
  } catch (error) {
    return { seen, error: error instanceof UpstreamFailure ? error.kind : (error as Error).name };
  }
};

const event = (said: string): string => `data: ${JSON.stringify({ said })}\n\n`;

it('gives events as they are, however their bytes come', async () => {
  const { exchange, send, end } = begunExchange();
  const bytes = Buffer.from(
    `: comment\n\n${event('Grüße 🚢')}id: 7\r\ndata: {"said":\r\ndata: "two"}\r\n\r\n${event('last')}`,
  );
  const reading = read(streamedEvents(exchange));
  for (const byte of bytes) send(Buffer.of(byte));
  end();
  expect(await reading).toEqual({ seen: [{ said: 'Grüße 🚢' }, { said: 'two' }, { said: 'last' }] });
});

it.each(['\r\n', '\r'])('gives an event at its empty line, whatever its lines end with: %j', async (lineEnd) => {
  const { exchange, send, end } = begunExchange();
  const reading = streamedEvents(exchange);
  for (const said of ['one', 'two']) {
    send(event(said).replaceAll('\n', lineEnd));
    expect(await reading.next()).toEqual({ done: false, value: { said } });
  }
  for (const character of `${event('three')}data: [DONE]\n\n`.replaceAll('\n', lineEnd)) send(character);
  expect(await reading.next()).toEqual({ done: false, value: { said: 'three' } });
  expect(await reading.next()).toEqual({ done: true, value: undefined });
  end();
});

it('ends with [DONE], whatever follows', async () => {
  const { exchange, send } = begunExchange();
  send(event('one'), 'data: [DONE]\n\n', 'data: {nonsense\n\n');
  expect(await read(streamedEvents(exchange))).toEqual({ seen: [{ said: 'one' }] });
});

it('gives a last event without the empty line behind it', async () => {
  const { exchange, send, end } = begunExchange();
  send(event('one').trimEnd());
  end();
  expect(await read(streamedEvents(exchange))).toEqual({ seen: [{ said: 'one' }] });
});

it.each([
  ['an error in the place of a piece', 'data: {"error":{"message":"overloaded"}}\n\n', 'UpstreamFailure'],
  ['an event that is an error', 'event: error\ndata: {"message":"overloaded"}\n\n', 'UpstreamFailure'],
  ['no JSON', 'data: {nonsense\n\n', 'SyntaxError'],
])('gives what came before %s', async (_, text, name) => {
  const { exchange, send } = begunExchange();
  const reading = read(streamedEvents(exchange));
  send(event('one') + text);
  expect(await reading).toEqual({ seen: [{ said: 'one' }], error: name === 'SyntaxError' ? name : 'broken' });
});

it('gives what came before the connection broke', async () => {
  const { exchange, send, fail } = begunExchange();
  send(event('one'));
  fail();
  expect(await read(streamedEvents(exchange))).toEqual({ seen: [{ said: 'one' }], error: 'broken' });
});

it.each([
  ['one event without end', Buffer.from(`data: ${'x'.repeat(1024 * 1024)}`), 17],
  ['an answer without end', Buffer.from(`${': x'.repeat(300_000)}\n`), Math.ceil(MAX_ANSWER_BYTES / 900_000) + 1],
])('does not fill the memory with %s', async (_, piece, pieces) => {
  const { exchange, send } = begunExchange();
  const reading = read(streamedEvents(exchange));
  send(...Array.from({ length: pieces }, () => piece));
  expect(await reading).toEqual({ seen: [], error: 'broken' });
});

it('reads no more from a provider than its reader takes', async () => {
  const { exchange, send, asked, end } = begunExchange();
  const events = streamedEvents(exchange);
  const first = events.next();
  send(event('one'));
  expect(await first).toMatchObject({ value: { said: 'one' } });
  send(...Array.from({ length: 5 }, () => event('x'.repeat(20_000))));
  expect(asked).toContain('pause');
  expect(asked).not.toContain('resume');
  expect(await events.next()).toMatchObject({ done: false });
  expect(asked).toContain('resume');
  end();
  expect((await read(events)).seen).toHaveLength(4);
});

it('reads on where what came meanwhile comes at once, and is too much again', async () => {
  const { exchange, send, asked, end, controller } = begunExchange();
  const large = event('x'.repeat(70_000));
  let isPaused = false;
  let left = 3;
  // As a socket that has more: it hands it over within the call.
  controller.pause = () => void (isPaused = asked.push('pause') > 0);
  controller.resume = () => {
    isPaused = false;
    while (!isPaused && left > 0) {
      left -= 1;
      send(large);
    }
    if (!isPaused) end();
  };
  const reading = read(streamedEvents(exchange));
  send(large);
  expect((await reading).seen).toHaveLength(4);
});

it('lets go of the provider when its reader leaves', async () => {
  const { exchange, send, asked } = begunExchange();
  const events = streamedEvents(exchange);
  send(event('one'), event('two'));
  await events.next();
  await events.return();
  // The rest is read away, so that the connection can be used again.
  expect(asked).toEqual(['resume']);
  exchange.onResponseEnd();
});
