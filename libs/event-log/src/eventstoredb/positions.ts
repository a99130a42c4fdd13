import type { Position } from '@app/kernel';

/** Enough digits for every 64-bit number, so that positions order as text. */
const DIGITS = 20;
const FORM = /^\d{20}$/;
/** The server counts in 63 bits. What has more than 64 would be sent as another position. */
const MOST: Position = String(2n ** 63n - 1n).padStart(DIGITS, '0');

/**
 * An event's commit position, in decimal. Leaves out the prepare position: every event written through gRPC has its
 * own commit position, and only that one is the same in the answer to an append, to its repeat, and in reads.
 */
export const positionText = (commit: string): Position => commit.padStart(DIGITS, '0');

/** The commit position in decimal. Throws `RangeError` for text that is no position of this log. */
export const commitPosition = (text: Position): string => {
  if (!FORM.test(text) || text > MOST) throw new RangeError('not a position of this log');
  return text.replace(/^0+(?=\d)/, '');
};
