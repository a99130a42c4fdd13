/** Cosine of two unit vectors of one model, -1 to 1; 0 where one is missing, or they are of different models. */
export const similarity = (a: Float32Array | undefined, b: Float32Array | undefined): number => {
  if (a === undefined || b === undefined || a.length !== b.length) return 0;
  let sum = 0;
  for (let index = 0; index < a.length; index += 1) sum += (a[index] as number) * (b[index] as number);
  return sum;
};

/** The direction of some vectors together, of length one; undefined where none has one. Those of other lengths than the first do not count. */
export const centroid = (vectors: readonly (Float32Array | undefined)[]): Float32Array | undefined => {
  const [first] = vectors.filter((vector) => vector !== undefined);
  if (first === undefined) return undefined;
  const sum = new Float32Array(first.length);
  for (const vector of vectors) {
    if (vector?.length !== sum.length) continue;
    for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] as number) + (vector[index] as number);
  }
  const length = Math.sqrt(similarity(sum, sum));
  return length === 0 ? undefined : sum.map((value) => value / length);
};
