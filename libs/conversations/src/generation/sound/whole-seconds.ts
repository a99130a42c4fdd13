import type { Media } from '@app/models';
import { soundSeconds } from './sound-length';

/** Bytes per second of sound of unknown length: reserved as speech on a telephone, billed as recorded speech. */
export const BYTES_PER_SECOND = { held: 1_500, counted: 8_000 };

/** Sound has more bytes per second in any format: a file that claims to be longer is not billed for more. */
const LEAST_BYTES_PER_SECOND = 250;

/** The length of a sound in whole seconds: as its file states, if that is possible, or else by its size. */
export const secondsOf = ({ data }: Media, bytesPerSecond: number): number => {
  const told = soundSeconds(data);
  const seconds =
    told === undefined ? data.byteLength / bytesPerSecond : Math.min(told, data.byteLength / LEAST_BYTES_PER_SECOND);
  return Math.max(1, Math.ceil(seconds));
};
