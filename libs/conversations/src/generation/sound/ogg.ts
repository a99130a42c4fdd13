const HEAD = 27;
const NO_GRANULE = 0xffff_ffff_ffff_ffffn;

/** One logical stream: samples that it has, and how many there are in a second. */
interface Track {
  readonly hertz: number;
  /** Samples that are decoded and not heard. */
  readonly skipped: number;
  samples: number;
}

/**
 * The length of an Ogg file: Opus, Vorbis or FLAC by the positions of its pages; consecutive streams are added.
 * Undefined if it is not one, or states none.
 */
export const secondsOfOgg = (file: Buffer): number | undefined => {
  if (file.toString('latin1', 0, 4) !== 'OggS') return undefined;
  const tracks = new Map<number, Track>();
  for (let at = 0; at >= 0 && at + HEAD <= file.length;) {
    if (file.toString('latin1', at, at + 4) !== 'OggS') {
      at = file.indexOf('OggS', at + 1, 'latin1');
      continue;
    }
    const segments = file.readUInt8(at + 26);
    const body = at + HEAD + segments;
    const length = file.subarray(at + HEAD, body).reduce((sum, size) => sum + size, 0);
    const serial = file.readUInt32LE(at + 14);
    const isFirst = (file.readUInt8(at + 5) & 2) !== 0;
    const begun = isFirst ? trackIn(file.subarray(body, body + length)) : undefined;
    if (begun !== undefined && !tracks.has(serial)) tracks.set(serial, begun);
    const granule = file.readBigUInt64LE(at + 6);
    const track = tracks.get(serial);
    if (track !== undefined && granule !== NO_GRANULE) track.samples = Math.max(track.samples, Number(granule));
    at = body + length;
  }
  const all = [...tracks.values()].map(({ samples, skipped, hertz }) => Math.max(0, samples - skipped) / hertz);
  const seconds = all.reduce((sum, each) => sum + each, 0);
  return seconds > 0 ? seconds : undefined;
};

const trackIn = (packet: Buffer): Track | undefined => {
  const begins = (text: string): boolean => packet.toString('latin1', 0, text.length) === text;
  if (begins('OpusHead') && packet.length >= 12) return { hertz: 48_000, skipped: packet.readUInt16LE(10), samples: 0 };
  const hertz =
    begins('\x01vorbis') && packet.length >= 16
      ? packet.readUInt32LE(12)
      : begins('\x7fFLAC') && packet.length >= 30
        ? packet.readUIntBE(27, 3) >> 4
        : 0;
  return hertz === 0 ? undefined : { hertz, skipped: 0, samples: 0 };
};
