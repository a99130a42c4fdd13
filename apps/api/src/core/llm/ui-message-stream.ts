import type { Readable } from 'node:stream';
import type { SourceDocumentPart, Turn } from '@app/conversations';
import { EventStream } from '@app/http';
import { isDomainError, isUnavailable } from '@app/kernel';
import { isBehind, placeText, STAGE, type StreamPlace } from './stream-place';

/** Headers of a stream in the UI message format. */
export const UI_STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
} as const;

export interface StreamParts {
  /** Awaited before the end is said. */
  readonly settled: (position: string) => Promise<void>;
  /** A source as it is shown. */
  readonly shown: (part: SourceDocumentPart) => Promise<SourceDocumentPart>;
}

/**
 * A turn as Server-Sent Events in the UI message format, each with its place as id; with `after` only those behind that
 * place. A reader that leaves ends only its stream, not the answer.
 */
export const uiMessageStream = (turn: Turn, parts: StreamParts, after?: StreamPlace): Readable => {
  const stream = new EventStream();
  const send = async (): Promise<void> => {
    for await (const { place, chunk } of chunksOf(turn, parts)) {
      if (after !== undefined && !isBehind(place, after)) continue;
      const shown = after === undefined || place.stage !== after.stage ? chunk : withoutHeard(chunk, place, after);
      if (
        !(await stream.send(placeText(turn.answerId, place), typeof shown === 'string' ? shown : JSON.stringify(shown)))
      )
        return;
    }
  };
  void send().then(
    () => stream.end(),
    (error: Error) => stream.end(error),
  );
  return stream.body;
};

type Chunk = Readonly<Record<string, unknown>> | '[DONE]';

interface Placed {
  readonly place: StreamPlace;
  readonly chunk: Chunk;
}

const at = (stage: number, chunk: Chunk, offset = 0): Placed => ({ place: { stage, offset }, chunk });

/** A delta that begins before the place the reader has heard up to, cut there. */
const withoutHeard = (chunk: Chunk, { offset }: StreamPlace, after: StreamPlace): Chunk => {
  if (typeof chunk === 'string' || typeof chunk['delta'] !== 'string') return chunk;
  return { ...chunk, delta: chunk['delta'].slice(-(offset - after.offset)) };
};

async function* chunksOf(turn: Turn, { settled, shown }: StreamParts): AsyncGenerator<Placed> {
  const { conversationId, answerId } = turn;
  yield at(STAGE.start, { type: 'start', messageId: answerId, messageMetadata: { conversationId } });
  yield at(STAGE.step, { type: 'start-step' });
  try {
    yield* contentOf(turn, shown);
    const { answer, receipt } = await turn.finished;
    await settled(receipt.position);
    if (answer.status === 'failed')
      yield at(STAGE.stepEnd, { type: 'error', errorText: answer.errorCode ?? 'internal' });
    else if (answer.status === 'stopped') yield at(STAGE.stepEnd, { type: 'abort' });
    else {
      yield at(STAGE.stepEnd, { type: 'finish-step' });
      yield at(STAGE.finish, {
        type: 'finish',
        finishReason: answer.finishReason,
        messageMetadata: { conversationId, model: answer.model, usage: answer.usage },
      });
    }
  } catch (error) {
    // The answer could not be recorded.
    yield at(STAGE.stepEnd, {
      type: 'error',
      errorText: isDomainError(error) ? error.code : isUnavailable(error) ? 'unavailable' : 'internal',
    });
  }
  yield at(STAGE.done, '[DONE]');
}

/** The text as one part with its deltas, by the offsets of their ends, then the sources it cites. */
async function* contentOf(turn: Turn, shown: StreamParts['shown']): AsyncGenerator<Placed> {
  const id = 'text';
  let said = 0;
  let open = false;
  let sources = 0;
  for await (const event of turn.follow()) {
    if (event.type === 'text') {
      if (!open) yield at(STAGE.textStart, { type: 'text-start', id });
      open = true;
      said += event.delta.length;
      yield at(STAGE.text, { type: 'text-delta', id, delta: event.delta }, said);
      continue;
    }
    if (open) yield at(STAGE.textEnd, { type: 'text-end', id });
    open = false;
    yield at(STAGE.source, await shown(event.part), (sources += 1));
  }
  if (open) yield at(STAGE.textEnd, { type: 'text-end', id });
}
