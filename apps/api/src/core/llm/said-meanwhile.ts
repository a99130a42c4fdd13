import type { Turns } from '@app/conversations';
import type { MessageRow } from '@projections/messages';

/** Answers under way with what was said of them until now: the view has it when they are finished. */
export const withSaid = async (
  turns: Turns,
  conversationId: string,
  rows: readonly MessageRow[],
): Promise<readonly MessageRow[]> => {
  if (rows.every(({ status }) => status !== 'streaming' && status !== 'waiting')) return rows;
  const said = await turns.saidMeanwhile(conversationId);
  return rows.map((row) => {
    const now = said.get(row.id);
    return now === undefined ? row : { ...row, ...now, parts: [...now.parts] };
  });
};
