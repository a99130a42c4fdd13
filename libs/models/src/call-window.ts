import type { ModelDescription } from './catalogue';

/** Tokens of a model whose catalogue entry names no window: nobody holds back more of a limit that others share. */
const LARGE_WINDOW = 131_072;

/** Tokens that a call may take in and give out at most. */
export interface CallWindow {
  readonly input: number;
  readonly output: number;
}

/** The widest window of those that may answer, since nobody knows yet who will. A model whose window is not named may take in all that was `counted`. */
export const callWindow = (models: readonly ModelDescription[], counted: number): CallWindow => {
  const widest = (unnamed: number): number =>
    models.reduce((most, { contextWindow = unnamed }) => Math.max(most, contextWindow), 0);
  return { input: widest(Math.max(LARGE_WINDOW, counted)), output: widest(LARGE_WINDOW) };
};
