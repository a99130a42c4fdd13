import type { OpenTurn } from '../conversation/open-turns';
import type { Answer } from '../conversation/conversation.commands';
import type { MessagePart } from '../conversation/message-parts';

/**
 * The text of a running answer so far. One that waits for approvals has ended for now, and so has its stream: with its
 * model and its usage so far.
 */
export type SaidMeanwhile =
  | { readonly parts: readonly MessagePart[]; readonly status: 'streaming' }
  | ({ readonly parts: readonly MessagePart[]; readonly status: 'waiting' } & Partial<EndForNow>);

type EndForNow = Pick<Answer, 'finishReason' | 'model' | 'usage' | 'degraded'> & Pick<OpenTurn, 'channel'>;

/** Of a turn in the log; `parts`: the known parts. */
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
