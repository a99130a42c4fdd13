import type { SaidMeanwhile, Turns } from '@app/conversations';
import { type MessageRow, messageRow, messages } from '@projections/messages';

/** Answers under way with what was said of them until now, and those that ended since as they ended: the view has both later. */
export const withSaid = async (
  turns: Pick<Turns, 'saidMeanwhile' | 'eventsOf'>,
  conversationId: string,
  rows: readonly MessageRow[],
): Promise<readonly MessageRow[]> => {
  if (!rows.some(isUnderWay)) return rows;
  const said = await turns.saidMeanwhile(conversationId);
  return Promise.all(
    rows.map(async (row) => {
      const now = said.get(row.id);
      if (now !== undefined) return shownNow(row, now);
      return isUnderWay(row) ? ((await recordedRow(turns, row)) ?? row) : row;
    }),
  );
};

const shownNow = (row: MessageRow, { parts, ...now }: SaidMeanwhile): MessageRow => {
  if (now.status === 'streaming') return { ...row, ...now, parts: [...parts] };
  const { degraded, ...ended } = now;
  return { ...row, ...ended, parts: [...parts], ...(degraded === undefined ? {} : { degraded: [...degraded] }) };
};

const isUnderWay = ({ status }: MessageRow): boolean => status === 'streaming' || status === 'waiting';

/** An answer as the view will have it, from what the log has of it; undefined where that has nothing, or it was deleted. */
export const recordedRow = async (
  turns: Pick<Turns, 'eventsOf'>,
  { id, conversationId }: Pick<MessageRow, 'id' | 'conversationId'>,
): Promise<MessageRow | undefined> => {
  let row: unknown;
  for (const event of await turns.eventsOf(conversationId, id))
    for (const change of messages.apply(event)) {
      if (change.op === 'put') row = change.row;
      if (change.op === 'patch' && row !== undefined) row = { ...row, ...change.fields };
    }
  return row === undefined ? undefined : messageRow.parse(row);
};
