/** Behind the mark and the head of the first block, which says what the sound is. */
const INFO = 8;

/** The length of a FLAC file, as it says. Undefined if it is not one, or does not say. */
export const secondsOfFlac = (file: Buffer): number | undefined => {
  if (file.toString('latin1', 0, 4) !== 'fLaC' || file.length < INFO + 18) return undefined;
  const hertz = file.readUIntBE(INFO + 10, 3) >> 4;
  const samples = (file.readUInt8(INFO + 13) & 15) * 2 ** 32 + file.readUInt32BE(INFO + 14);
  return hertz > 0 && samples > 0 ? samples / hertz : undefined;
};
