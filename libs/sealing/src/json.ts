/** The value of JSON text; undefined for text that is none, as tampering may leave it. */
export const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};
