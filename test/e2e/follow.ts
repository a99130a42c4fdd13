/** The end of a stream that was broken off, by the product or by its reader. */
const BROKEN_OFF = ['terminated', 'This operation was aborted'];

export interface Following {
  readonly status: number;
  readonly headers: Headers;
  /** What came so far, piece by piece. */
  readonly heard: readonly string[];
  /** Resolves to when the stream ended, by `performance.now()`. */
  readonly ended: Promise<number>;
}

/** Reads a stream until it ends, or the signal breaks it off. */
export const follow = async (
  url: string,
  key: string,
  signal?: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Following> => {
  const response = await fetch(url, {
    headers: { ...headers, 'x-api-key': key },
    ...(signal === undefined ? {} : { signal }),
  });
  const heard: string[] = [];
  const read = async (): Promise<number> => {
    const text = new TextDecoder();
    try {
      // None with 204.
      for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>)
        heard.push(text.decode(piece, { stream: true }));
    } catch (error) {
      if (!BROKEN_OFF.includes((error as Error).message)) throw error;
    }
    return performance.now();
  };
  return { status: response.status, headers: response.headers, heard, ended: read() };
};
