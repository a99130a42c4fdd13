import type { Readable } from 'node:stream';
import type { Turn, TurnEvent } from '@app/conversations';
import { isDomainError, isUnavailable } from '@app/kernel';
import { EventStream } from '../../http';

/** Headers of a stream in the UI message format. */
export const UI_STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-vercel-ai-ui-message-stream': 'v1', 'x-accel-buffering': 'no' } as const;

/**
 * A turn as Server-Sent Events in the UI message format, each with an id `<messageId>.<number>`. A reader that leaves ends
 * only its stream, not the answer. `settled` is awaited before the end is said.
 */
export const uiMessageStream = (turn: Turn, settled: (position: string) => Promise<void>): Readable => {
  const stream = new EventStream();
  const send = async (): Promise<void> => {
    let number = 0;
    for await (const chunk of chunksOf(turn, settled)) {
      if (!(await stream.send(`${turn.answerId}.${number}`, typeof chunk === 'string' ? chunk : JSON.stringify(chunk)))) return;
      number += 1;
    }
  };
  void send().then(
    () => stream.end(),
    (error: Error) => stream.end(error),
  );
  return stream.body;
};

type Chunk = Readonly<Record<string, unknown>> | '[DONE]';

async function* chunksOf(turn: Turn, settled: (position: string) => Promise<void>): AsyncGenerator<Chunk> {
  const { conversationId, answerId } = turn;
  yield { type: 'start', messageId: answerId, messageMetadata: { conversationId } };
  yield { type: 'start-step' };
  try {
    yield* contentOf(turn.follow());
    const { answer, receipt } = await turn.finished;
    await settled(receipt.position);
    if (answer.status === 'failed') yield { type: 'error', errorText: answer.errorCode ?? 'internal' };
    else if (answer.status === 'stopped') yield { type: 'abort' };
    else {
      yield { type: 'finish-step' };
      yield { type: 'finish', finishReason: answer.finishReason, messageMetadata: { conversationId, model: answer.model, usage: answer.usage } };
    }
  } catch (error) {
    // The answer could not be recorded.
    yield { type: 'error', errorText: isDomainError(error) ? error.code : isUnavailable(error) ? 'unavailable' : 'internal' };
  }
  yield '[DONE]';
}

/** The text as one part with its deltas, then the sources it cites. */
async function* contentOf(events: AsyncIterable<TurnEvent>): AsyncGenerator<Chunk> {
  const id = 'text';
  let open = false;
  for await (const event of events) {
    if (event.type === 'text') {
      if (!open) yield { type: 'text-start', id };
      open = true;
      yield { type: 'text-delta', id, delta: event.delta };
      continue;
    }
    if (open) yield { type: 'text-end', id };
    open = false;
    yield event.part;
  }
  if (open) yield { type: 'text-end', id };
}
