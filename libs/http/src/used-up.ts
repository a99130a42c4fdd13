import type { Facts } from '@app/kernel';

/** The limit behind a 429. Shows the amount spent only for limits of the caller. */
export interface UsedUp {
  readonly limitId: string;
  readonly scope: string;
  readonly window: string;
  readonly resetsAt: string | null;
  readonly amount?: string;
  readonly spent?: string;
  readonly held?: string;
  /** Of the limit, where calls cost another. */
  readonly currency?: string;
}

export const usedUp = (facts: Facts): UsedUp | undefined => {
  const { limitId, scope, window, resetsAt, amount, spent, held, currency } = facts;
  if (
    typeof limitId !== 'string' ||
    typeof scope !== 'string' ||
    typeof window !== 'string' ||
    (typeof resetsAt !== 'string' && resetsAt !== null)
  )
    return undefined;
  const amounts =
    typeof amount === 'string' && typeof spent === 'string' && typeof held === 'string' ? { amount, spent, held } : {};
  return { limitId, scope, window, resetsAt, ...amounts, ...(typeof currency === 'string' ? { currency } : {}) };
};

const NAMES: Readonly<Record<string, string>> = {
  instance: 'the instance',
  space: 'the Space',
  agent: 'the Agent',
  user: 'the user',
  apiKey: 'the API key',
};

export const usedUpSentence = ({ limitId, scope, window, resetsAt, amount, spent, held, currency }: UsedUp): string => {
  const name = `The usage limit ${limitId} of ${NAMES[scope] ?? scope} (${window})`;
  if (currency !== undefined)
    return `${name} is in ${currency}, and calls cost another currency now. Ask an admin to set a new limit and remove this one.`;
  const sums =
    amount === undefined ? '' : ` ${spent} of ${amount} is spent, and ${held} is reserved for running calls.`;
  const reset = resetsAt === null ? 'It does not reset.' : `It resets at ${resetsAt}.`;
  return `${name} is reached.${sums} ${reset}`;
};
