import type { Position } from '@app/kernel';
import { FollowedSlice, type FollowedSliceOptions } from './followed-slice';

export interface FollowedSlicesOptions extends Omit<FollowedSliceOptions, 'slice' | 'fence'> {
  /** The slices to follow, each with the fence of its lease. */
  readonly held: ReadonlyMap<number, number>;
}

export const openSlices = (options: FollowedSlicesOptions): Promise<readonly FollowedSlice[]> =>
  all([...options.held].map(([slice, fence]) => FollowedSlice.open({ ...options, slice, fence })));

/** The slice that is furthest behind says how far all are. */
export const leastOf = (slices: readonly Pick<FollowedSlice, 'reached'>[]): Position | null =>
  slices.reduce<Position | null | undefined>(
    (least, { reached }) =>
      least === undefined || (least !== null && (reached === null || reached < least)) ? reached : least,
    undefined,
  ) ?? null;

/** Null where all are. */
export const latestOf = (positions: readonly (Position | null)[]): Position | null =>
  positions.reduce(
    (latest, position) => (latest === null || (position !== null && position > latest) ? position : latest),
    null,
  );

/** Waits for all, also when one fails: nothing may go on behind the back of who tries again. */
export const all = async <T>(work: readonly Promise<T>[]): Promise<readonly T[]> => {
  await Promise.allSettled(work);
  return Promise.all(work);
};
