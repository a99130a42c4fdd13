/** Slices of a view that several projectors share: more than there are projectors, so that each has about as many as the others. */
export const SHARED_SLICES = 8;

/** The slice that a stream belongs to, 0 to `slices` - 1; always the same for the same name (FNV-1a). Stored checkpoints depend on it. */
export const sliceOf = (stream: string, slices: number): number => {
  if (slices === 1) return 0;
  let hash = 0x811c9dc5;
  for (let index = 0; index < stream.length; index += 1) hash = Math.imul(hash ^ stream.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % slices;
};
