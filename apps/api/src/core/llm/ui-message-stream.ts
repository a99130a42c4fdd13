import type { Readable } from 'node:stream';
import type { AnsweredTurn, SourceDocumentPart, Turn } from '@app/conversations';
import { EventStream } from '@app/http';
import { isDomainError, isUnavailable } from '@app/kernel';
import { BEFORE_PARTS, place, placeText, type StreamPlace } from './stream-place';
import { type Chunk, chunksOf, type Placed, type StreamedMessage } from './ui-message-chunks';

/** Headers of a stream in the UI message format. */
export const UI_STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
} as const;

export interface StreamParts {
  /** Awaited before the end is said. */
  readonly settled: (finished: AnsweredTurn) => Promise<void>;
  /** A source as it is shown. */
  readonly shown: (part: SourceDocumentPart) => Promise<SourceDocumentPart>;
}

/**
 * Streams a turn as Server-Sent Events in the UI message format, each with its place as id; with `after` only those
 * after that place. A reader that leaves ends its stream, not the answer. A slow reader gets what it missed at once.
 * A reader that loses access gets the code of the reason with the last place, so that somebody with access can resume
 * there.
 */
export const uiMessageStream = (turn: Turn<AnsweredTurn>, parts: StreamParts, after?: StreamPlace): Readable => {
  const stream = new EventStream();
  // Whoever has heard all there is so far gets the headers at once.
  if (after !== undefined) stream.begin('resumed');
  // The start is sent at once.
  let heard = after ?? place(0, BEFORE_PARTS, 0);
  stream.onRejected((reason) => {
    const id = placeText(turn.answerId, heard);
    void stream.send(id, JSON.stringify({ type: 'error', errorText: errorCodeOf(reason) }));
    void stream.send(id, '[DONE]');
  });
  const send = async (): Promise<void> => {
    for await (const { place: at, chunk } of placedChunks(turn, parts, after)) {
      const shown = isSource(chunk) ? await parts.shown(chunk) : chunk;
      heard = at;
      if (!(await stream.send(placeText(turn.answerId, at), typeof shown === 'string' ? shown : JSON.stringify(shown))))
        return;
    }
  };
  void send().then(
    () => stream.end(),
    (error: Error) => stream.end(error),
  );
  return stream.body;
};

async function* placedChunks(
  turn: Turn<AnsweredTurn>,
  { settled }: StreamParts,
  after?: StreamPlace,
): AsyncGenerator<Placed> {
  const { conversationId, answerId } = turn;
  let heard = after;
  const news = function* (message: Pick<StreamedMessage, 'parts' | 'end'>): Generator<Placed> {
    for (const placed of chunksOf({ conversationId, answerId, ...message }, heard)) {
      yield placed;
      heard = placed.place;
    }
  };
  yield* news({ parts: [] });
  try {
    for await (const parts of turn.follow()) yield* news({ parts });
    const finished = await turn.finished;
    const { answer } = finished;
    await settled(finished);
    yield* news({ parts: answer.parts, end: answer });
  } catch (error) {
    // The answer could not be recorded.
    yield* news({ parts: turn.parts, end: { status: 'unrecorded', errorCode: errorCodeOf(error) } });
  }
}

const errorCodeOf = (error: unknown): string =>
  isDomainError(error) ? error.code : isUnavailable(error) ? 'unavailable' : 'internal';

const isSource = (chunk: Chunk): chunk is SourceDocumentPart & Chunk =>
  typeof chunk === 'object' && chunk['type'] === 'source-document';
