import type { Position } from '@app/kernel';

/** Enough digits for every safe integer, so that positions order as text. */
const DIGITS = 16;
const FORM = /^\d{16}$/;

export const positionText = (position: number): Position => String(position).padStart(DIGITS, '0');

/** Throws `RangeError` for text that is no position of this log. */
export const positionNumber = (text: Position): number => {
  if (!FORM.test(text)) throw new RangeError('not a position of this log');
  return Number(text);
};
