import {
  parseJsonEventStream,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from 'ai';

/** The events of a stream as the AI SDK reads them: each must be one of its own. */
export const chunksIn = async (text: string): Promise<readonly UIMessageChunk[]> => {
  const chunks: UIMessageChunk[] = [];
  const stream = parseJsonEventStream({ stream: new Blob([text]).stream(), schema: uiMessageChunkSchema });
  // Node's streams can be iterated; their type in browsers does not say so.
  for await (const each of stream as unknown as AsyncIterable<{ success: boolean; value: UIMessageChunk }>) {
    expect(each.success).toBe(true);
    chunks.push(each.value);
  }
  return chunks;
};

type Answer = UIMessage<{ conversationId: string }>;

/** The message that the AI SDK makes of a stream. */
export const messageOf = async (
  chunks: readonly UIMessageChunk[],
): Promise<Answer & { readonly metadata: { readonly conversationId: string } }> => {
  let message: Answer | undefined;
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const each of chunks) controller.enqueue(each);
      controller.close();
    },
  });
  for await (const state of readUIMessageStream({ stream, terminateOnError: true })) message = state as Answer;
  return message as Answer & { readonly metadata: { readonly conversationId: string } };
};
