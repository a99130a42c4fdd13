import { isErased } from '@app/kernel';
import { textOf } from '../conversation/message-parts';
import type { RecordedAnswer } from './history';
import type { FinishedTurn, TurnEvent } from './turn';

/** Says what stands in a recorded answer behind an offset of its text, and then what it cites, as if it happened again. */
export const recordedTurn = (event: RecordedAnswer, from: number, say: (event: TurnEvent) => void): FinishedTurn => {
  const { messageId: answerId, conversationId, parentId, parts, ...rest } = event.data;
  const { stream, position, revision, id, recordedAt } = event.context;
  const shown = isErased(parts) ? [] : parts;
  const text = textOf(shown).slice(from);
  if (text !== '') say({ type: 'text', delta: text });
  for (const part of shown) if (part.type === 'source-document') say({ type: 'source', part });
  return {
    conversationId,
    parentId,
    answer: { answerId, parts: shown, ...rest },
    createdAt: recordedAt,
    receipt: { stream, position, revision, eventIds: [id], repeated: true },
  };
};
