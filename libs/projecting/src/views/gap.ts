import type { View } from './view';

/** Why a view may not show something that stands in the log. */
export interface Gap {
  /** In words that go on from "the view x is unavailable:". */
  readonly reason: string;
  /** False where somebody must solve dead letters first. */
  readonly passes: boolean;
}

export const BEHIND: Gap = { reason: 'it is behind the log', passes: true };
const UNFIT: Gap = {
  reason: 'it was built for another version of the program, or before the log was restored from a backup',
  passes: true,
};

/** The gap in a view that has read everything: it was declared otherwise when it was built, or events wait in it as dead letters. */
export const gapIn = async (view: View): Promise<Gap | undefined> => {
  const version = await view.store.live();
  if (version === undefined || !(await view.isFit(version))) return UNFIT;
  const letters = (await view.store.letters(version)).length;
  return letters === 0
    ? undefined
    : { reason: `it has dead letters (${letters}): retry or discard them first`, passes: false };
};
