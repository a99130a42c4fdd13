import { createParser } from 'eventsource-parser';
import { type Exchange, MAX_ANSWER_BYTES } from './exchange';
import { UpstreamFailure } from './failure';
import { LineEnds } from './line-ends';

/** Characters of events that wait for their reader before no more is read from the provider. */
const WAITING = 64 * 1024;
/** Characters of one event: more is none of a chat. */
const LONGEST_EVENT = 16 * 1024 * 1024;
const END = '[DONE]';

/**
 * The JSON of the Server-Sent Events of an answer, in order, until `[DONE]` or its end. Straight from the exchange: the `openai` client's own
 * reader takes each event through a web stream and four generators. Throws an `UpstreamFailure`, also for an event that is an error or
 * too long, and a `SyntaxError` for one that is no JSON.
 */
export async function* streamedEvents(exchange: Exchange): AsyncGenerator<unknown, void> {
  let [waiting, size, read]: [string[], number, number] = [[], 0, 0];
  let end: 'ended' | UpstreamFailure | undefined;
  let wake = (): void => undefined;
  const finish = (how: 'ended' | UpstreamFailure): void => {
    end ??= how;
    wake();
  };
  const parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onEvent: ({ event, data }) => {
      if (event === 'error') return finish(new UpstreamFailure('broken'));
      waiting.push(data);
      size += data.length;
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') finish(new UpstreamFailure('broken'));
    },
  });
  const decoder = new TextDecoder();
  // The parser would hold an event that ends with a carriage return until more comes.
  const lineEnds = new LineEnds();
  exchange.follow({
    data: (chunk) => {
      if (end !== undefined) return;
      read += chunk.length;
      if (read > MAX_ANSWER_BYTES) return finish(new UpstreamFailure('broken'));
      parser.feed(lineEnds.read(decoder.decode(chunk, { stream: true })));
      if (size > WAITING) exchange.pause();
      if (waiting.length > 0) wake();
    },
    ended: () => {
      // Some leave out the empty line behind the last event.
      if (end === undefined) parser.feed(lineEnds.read(`${decoder.decode()}\n\n`));
      finish('ended');
    },
    failed: finish,
  });
  try {
    for (;;) {
      const [events, isPaused] = [waiting, size > WAITING];
      [waiting, size] = [[], 0];
      // What the provider has sent meanwhile may come at once, and pause it again.
      if (isPaused) exchange.resume();
      for (const data of events) {
        if (data.trim() === END) return;
        yield eventIn(data);
      }
      if (waiting.length > 0) continue;
      if (end === 'ended') return;
      if (end !== undefined) throw end;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    if (end !== 'ended') exchange.release();
  }
}

const eventIn = (data: string): unknown => {
  const event = JSON.parse(data) as unknown;
  // Providers tell of a failure in the middle of an answer where a piece of it would stand.
  if (typeof event === 'object' && event !== null && 'error' in event && Boolean(event.error))
    throw new UpstreamFailure('broken');
  return event;
};
