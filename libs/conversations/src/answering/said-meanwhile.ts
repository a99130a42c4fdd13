import type { OpenTurn } from '../conversation/open-turns';
import type { Answer } from '../conversation/conversation.commands';
import type { MessagePart } from '../conversation/message-parts';

/** What was said of an answer under way. One that waits for approvals has ended for now, as its stream has: with its model, and what it took until then. */
export type SaidMeanwhile =
  | { readonly parts: readonly MessagePart[]; readonly status: 'streaming' }
  | ({ readonly parts: readonly MessagePart[]; readonly status: 'waiting' } & Partial<EndForNow>);

type EndForNow = Pick<Answer, 'finishReason' | 'model' | 'usage' | 'degraded'> & Pick<OpenTurn, 'channel'>;

/** Of a turn as it stands in the log; `parts`: what is known of it by now. */
export const saidMeanwhileOf = (
  { isWaiting, paused, channel }: OpenTurn,
  parts: readonly MessagePart[],
): SaidMeanwhile => {
  if (!isWaiting) return { parts, status: 'streaming' };
  if (paused === undefined) return { parts, status: 'waiting' };
  const { model, usage, degraded } = paused;
  const end = { finishReason: 'tool-calls', model, usage, channel } as const;
  return { parts, status: 'waiting', ...end, ...(degraded === undefined ? {} : { degraded }) };
};
