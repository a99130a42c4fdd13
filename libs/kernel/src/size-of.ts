const OBJECT = 32;
const FIELD = 16;

/** Estimates the size of a value in characters: texts, bytes, and the cost of objects. Counts a shared part once. */
export const sizeOf = (value: unknown): number => {
  const seen = new Set<object>();
  const open: unknown[] = [value];
  let size = 0;
  while (open.length > 0) {
    const each = open.pop();
    size += FIELD;
    if (typeof each === 'string') size += each.length;
    if (typeof each !== 'object' || each === null || seen.has(each)) continue;
    seen.add(each);
    size += OBJECT;
    if (ArrayBuffer.isView(each)) size += each.byteLength;
    else if (each instanceof Map) for (const [key, member] of each) open.push(key, member);
    else
      for (const member of each instanceof Set || Array.isArray(each) ? each : Object.values(each)) open.push(member);
  }
  return size;
};
