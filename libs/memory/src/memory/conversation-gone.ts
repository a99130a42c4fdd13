import { type Position, streamOf, type StreamReader } from '@app/kernel';
import type { MemorySource } from './memory.events';

/** Where in the log the conversation of a memory was deleted; undefined where it is there, or the memory is of none. Throws `Unavailable`. */
export const conversationGone = async (
  log: StreamReader,
  source: MemorySource | null,
): Promise<Position | undefined> => {
  if (source === null) return undefined;
  const stream = streamOf('conversation', source.conversationId);
  const [last] = await log.readStream(stream, { direction: 'backwards', limit: 1 });
  return last?.type === 'ConversationDeleted' ? last.position : undefined;
};
