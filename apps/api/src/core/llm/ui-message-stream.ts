import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import type { Turn, TurnEvent } from '@app/conversations';
import { isDomainError, isUnavailable } from '@app/kernel';

/** Proxies close connections on which nothing was sent for long. */
const HEARTBEAT_MS = 15_000;

/** Headers of a stream in the UI message format (`reference` vocabulary of the AI SDK). */
export const UI_STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-vercel-ai-ui-message-stream': 'v1', 'x-accel-buffering': 'no' } as const;

/**
 * A turn as Server-Sent Events in the UI message format, each with an id `<messageId>.<number>`. A slow reader is waited
 * for; one that leaves ends only its stream, not the answer. `settled` is awaited before the end is said.
 */
export const uiMessageStream = (turn: Turn, settled: (position: string) => Promise<void>): Readable => {
  const lines = new PassThrough();
  const gone = once(lines, 'close');
  const heartbeat = setInterval(() => lines.write(':\n\n'), HEARTBEAT_MS);
  void gone.then(() => clearInterval(heartbeat));
  void (async () => {
    let number = 0;
    for await (const chunk of chunksOf(turn, settled)) {
      if (lines.destroyed) return;
      const data = typeof chunk === 'string' ? chunk : JSON.stringify(chunk);
      if (!lines.write(`id: ${turn.answerId}.${number}\ndata: ${data}\n\n`)) await Promise.race([once(lines, 'drain'), gone]);
      number += 1;
    }
    lines.end();
  })().catch((error: unknown) => lines.destroy(error as Error));
  return lines;
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
