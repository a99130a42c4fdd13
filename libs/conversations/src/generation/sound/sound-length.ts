import { readWav } from '../wav';
import { secondsOfFlac } from './flac';
import { secondsOfFrames } from './mp3';
import { secondsOfMp4 } from './mp4';
import { secondsOfOgg } from './ogg';
import { secondsOfWebm } from './webm';

/** More bytes of a second are not believed: a file that lies is not cheaper than its size allows. */
const MOST_BYTES_PER_SECOND = 800_000;

const FORMATS = [secondsOfFlac, secondsOfOgg, secondsOfWebm, secondsOfMp4, secondsOfFrames];

/** How long a sound is as its file says, seconds: WAV, MP3, AAC, Ogg, FLAC, WebM, MP4 and M4A, told by their bytes. Undefined where it says nothing. */
export const soundSeconds = (data: Uint8Array): number | undefined => {
  const wav = readWav(data);
  if (wav !== undefined) return wav.samples.length / Math.min(wav.bytesPerSecond, MOST_BYTES_PER_SECOND);
  const file = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  for (const secondsOf of FORMATS) {
    const seconds = secondsOf(file);
    if (seconds !== undefined) return Math.max(seconds, file.length / MOST_BYTES_PER_SECOND);
  }
  return undefined;
};
