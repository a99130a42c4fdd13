import type { Turns } from '@app/conversations';
import { type MessageRow, messageRow, messages } from '@projections/messages';

/** Answers under way with what was said of them until now, and those that ended since as they ended: the view has both later. */
export const withSaid = async (
  turns: Pick<Turns, 'saidMeanwhile' | 'ended'>,
  conversationId: string,
  rows: readonly MessageRow[],
): Promise<readonly MessageRow[]> => {
  if (!rows.some(isUnderWay)) return rows;
  const said = await turns.saidMeanwhile(conversationId);
  return Promise.all(
    rows.map(async (row) => {
      const now = said.get(row.id);
      if (now !== undefined) return { ...row, ...now, parts: [...now.parts] };
      return isUnderWay(row) ? ((await endedRow(turns, row)) ?? row) : row;
    }),
  );
};

const isUnderWay = ({ status }: MessageRow): boolean => status === 'streaming' || status === 'waiting';

/** An answer as it was recorded; undefined where it did not end, or was deleted. */
export const endedRow = async (
  turns: Pick<Turns, 'ended'>,
  { id, conversationId }: Pick<MessageRow, 'id' | 'conversationId'>,
): Promise<MessageRow | undefined> => {
  const event = await turns.ended(conversationId, id);
  const [change] = event === undefined ? [] : messages.apply(event);
  return change?.op === 'put' ? messageRow.parse(change.row) : undefined;
};
