import type { Readable } from 'node:stream';
import type { AnsweredTurn, SourceDocumentPart, Turn } from '@app/conversations';
import { EventStream } from '@app/http';
import { isDomainError, isUnavailable } from '@app/kernel';
import { BEFORE_PARTS, place, placeText } from './stream-place';
import { digestUntil, digestWith, EMPTY_DIGEST, type ResumePoint } from './resume-point';
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
 * there. One that heard words that were taken back since, because their provider broke off and was asked again, gets the error
 * `upstream_error`: what was said in their place is no continuation of them.
 */
export const uiMessageStream = (turn: Turn<AnsweredTurn>, parts: StreamParts, after?: ResumePoint): Readable => {
  const stream = new EventStream();
  // Whoever has heard all there is so far gets the headers at once.
  if (after !== undefined) stream.begin('resumed');
  // The start is sent at once.
  let heard: ResumePoint = after ?? { place: place(0, BEFORE_PARTS, 0), digest: EMPTY_DIGEST };
  stream.onRejected((reason) => {
    const id = placeText(turn.answerId, heard.place, heard.digest);
    void stream.send(id, JSON.stringify({ type: 'error', errorText: errorCodeOf(reason) }));
    void stream.send(id, '[DONE]');
  });
  const send = async (): Promise<void> => {
    for await (const { chunk, ...at } of chunksBehind(turn, parts, after)) {
      const shown = isSource(chunk) ? await parts.shown(chunk) : chunk;
      heard = at;
      const id = placeText(turn.answerId, at.place, at.digest);
      if (!(await stream.send(id, typeof shown === 'string' ? shown : JSON.stringify(shown)))) return;
    }
  };
  void send().then(
    () => stream.end(),
    (error: Error) => stream.end(error),
  );
  return stream.body;
};

async function* chunksBehind(
  turn: Turn<AnsweredTurn>,
  { settled }: StreamParts,
  after?: ResumePoint,
): AsyncGenerator<ResumePoint & Pick<Placed, 'chunk'>> {
  const { conversationId, answerId } = turn;
  let heard = after?.place;
  let digest = after === undefined ? EMPTY_DIGEST : undefined;
  const news = function* (known: Pick<StreamedMessage, 'parts' | 'end'>) {
    const message = { conversationId, answerId, ...known };
    if (after !== undefined) digest ??= continued(message, after);
    // It has not come to where its reader is.
    if (digest === undefined) return;
    for (const { place: at, chunk } of chunksOf(message, heard)) {
      digest = digestWith(digest, chunk);
      yield { place: at, digest, chunk };
      heard = at;
    }
  };
  try {
    // Not `yield*`, which wraps each chunk in promises of its own.
    for (const chunk of news({ parts: [] })) yield chunk;
    for await (const parts of turn.follow()) for (const chunk of news({ parts })) yield chunk;
    const finished = await turn.finished;
    const { answer } = finished;
    await settled(finished);
    yield* news({ parts: answer.parts, end: answer });
  } catch (error) {
    if (error instanceof TakenBack && after !== undefined) {
      yield { ...after, chunk: { type: 'error', errorText: 'upstream_error' } };
      yield { ...after, chunk: '[DONE]' };
      return;
    }
    // The answer could not be recorded.
    yield* news({ parts: turn.parts, end: { status: 'unrecorded', errorCode: errorCodeOf(error) } });
  }
}

/** Words that a reader heard are in the answer no more. */
class TakenBack extends Error {}

/** What a reader has heard, of a message that goes on from there; undefined while nobody can tell. Throws `TakenBack`. */
const continued = (message: StreamedMessage, { place: until, digest }: ResumePoint): number | undefined => {
  const known = digestUntil(message, until);
  if (known !== undefined) {
    if (digest !== undefined && digest !== known) throw new TakenBack();
    return known;
  }
  // An answer that did not come to its end may lack its last words; a whole one has all that was said of it.
  if (message.end === undefined) return undefined;
  if (digest !== undefined && message.end.status === 'complete') throw new TakenBack();
  return digest ?? EMPTY_DIGEST;
};

const errorCodeOf = (error: unknown): string =>
  isDomainError(error) ? error.code : isUnavailable(error) ? 'unavailable' : 'internal';

const isSource = (chunk: Chunk): chunk is SourceDocumentPart & Chunk =>
  typeof chunk === 'object' && chunk['type'] === 'source-document';
