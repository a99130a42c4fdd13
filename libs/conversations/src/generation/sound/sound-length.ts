import { readWav } from '../wav';
import { secondsOfFlac } from './flac';
import { secondsOfFrames } from './mp3';
import { secondsOfMp4 } from './mp4';
import { secondsOfOgg } from './ogg';
import { secondsOfWebm } from './webm';

/**
 * Most bytes per second: of whole samples, and of Opus, Vorbis and AAC. A file that claims to be shorter than its size
 * allows is not cheaper.
 */
const MOST_BYTES_PER_SECOND = { whole: 800_000, coded: 64_000 };

/** What of an Ogg or MP4 file shows that it holds whole samples: the head of FLAC, and ALAC. */
const WHOLE = /\x7fFLAC|alac/;
/** It is in the header, which may come last. */
const HEAD_BYTES = 64 * 1024;

const FORMATS = [secondsOfFlac, secondsOfOgg, secondsOfWebm, secondsOfMp4, secondsOfFrames];

/**
 * The length of a sound as its file states it, seconds: WAV, MP3, AAC, Ogg, FLAC, WebM, MP4 and M4A, recognised by
 * their bytes. Undefined if it states none.
 */
export const soundSeconds = (data: Uint8Array): number | undefined => {
  const wav = readWav(data);
  if (wav !== undefined) return wav.samples.length / Math.min(wav.bytesPerSecond, MOST_BYTES_PER_SECOND.whole);
  const file = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  for (const secondsOf of FORMATS) {
    const seconds = secondsOf(file);
    if (seconds !== undefined) return Math.max(seconds, file.length / mostBytesPerSecond(file, secondsOf));
  }
  return undefined;
};

const mostBytesPerSecond = (file: Buffer, secondsOf: (typeof FORMATS)[number]): number => {
  if (secondsOf === secondsOfFlac) return MOST_BYTES_PER_SECOND.whole;
  const ends = [file.subarray(0, HEAD_BYTES), file.subarray(-HEAD_BYTES)];
  const isWhole = ends.some((end) => WHOLE.test(end.toString('latin1')));
  return isWhole ? MOST_BYTES_PER_SECOND.whole : MOST_BYTES_PER_SECOND.coded;
};
