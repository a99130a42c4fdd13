import type { ToolOutput } from './tools';

/** The texts of a tool's input by their names; undefined where one is missing, empty or too long, or there are others. */
export const inputOf = (
  input: unknown,
  names: readonly string[],
  longest: Readonly<Record<string, number>> = {},
): Readonly<Record<string, string>> | undefined => {
  if (typeof input !== 'object' || input === null) return undefined;
  const given = Object.entries(input);
  const isGood = ([name, value]: readonly [string, unknown]): boolean =>
    names.includes(name) && typeof value === 'string' && value.trim() !== '' && value.length <= (longest[name] ?? 100);
  return given.length === names.length && given.every(isGood) ? Object.fromEntries(given) : undefined;
};

/** Tells the model why a call gave nothing. */
export const failedTool = (error: string): ToolOutput => ({ output: JSON.stringify({ error }), isError: true });
