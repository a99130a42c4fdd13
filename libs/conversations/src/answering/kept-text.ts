/** A text that can be stored and shown: readers of JSON and stores fail on NUL and halves of characters. */
export const keptText = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** JSON whose texts and names are kept so. */
export const keptJson = (value: unknown): unknown => {
  if (typeof value === 'string') return keptText(value);
  if (Array.isArray(value)) return value.map(keptJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [keptText(name), keptJson(inner)]));
};
