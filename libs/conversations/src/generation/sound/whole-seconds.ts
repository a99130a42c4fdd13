import type { Media } from '@app/models';
import { soundSeconds } from './sound-length';

/** Bytes of a second of sound whose length nobody says: held as of speech on a telephone, billed as of speech that is kept. */
export const BYTES_PER_SECOND = { held: 1_500, counted: 8_000 };

/** Sound has more bytes a second, whatever it is written in: a file that says it is longer lies, and is billed no more. */
const LEAST_BYTES_PER_SECOND = 250;

/** How long a sound is, whole seconds: as its file says, as far as that can be, else by its size. */
export const secondsOf = ({ data }: Media, bytesPerSecond: number): number => {
  const told = soundSeconds(data);
  const seconds =
    told === undefined ? data.byteLength / bytesPerSecond : Math.min(told, data.byteLength / LEAST_BYTES_PER_SECOND);
  return Math.max(1, Math.ceil(seconds));
};
