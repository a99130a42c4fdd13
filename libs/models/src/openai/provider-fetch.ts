import { Agent, fetch as undiciFetch, type RequestInit } from 'undici';

/** More of one answer is not read: a hostile or broken provider must not fill the memory. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The caller's own signal bounds a call, so the transport has no limits of its own. */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 10_000 } });

/** `fetch` for providers: follows no redirect, and ends answers that are too large. */
export const providerFetch = async (url: string | URL | Request, init?: globalThis.RequestInit): Promise<Response> => {
  const response = await undiciFetch(url as string, {
    ...(init as unknown as RequestInit),
    redirect: 'error',
    dispatcher,
  });
  if (response.body === null) return response as unknown as Response;
  const { status, statusText, headers } = response;
  return new Response((response.body as ReadableStream<Uint8Array>).pipeThrough(limited()), {
    status,
    statusText,
    headers: [...headers],
  });
};

const limited = (): TransformStream<Uint8Array, Uint8Array> => {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes > MAX_ANSWER_BYTES) controller.error(new Error('the answer is too large'));
      else controller.enqueue(chunk);
    },
  });
};
