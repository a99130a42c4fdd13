import OpenAI from 'openai';
import type { Attempt } from './upstream-call';
import type { Operation } from './upstream';

/** Base of the addresses that the client makes; only what is behind it counts. */
const BASE = 'http://upstream/';
/** The client's own limit, milliseconds; a call has another (`timeoutMs`), so this is as long as a timer can be. */
const NEVER_MS = 2 ** 31 - 1;

const client = new OpenAI({
  apiKey: 'unused',
  baseURL: BASE,
  timeout: NEVER_MS,
  maxRetries: 0,
  logLevel: 'off',
  organization: null,
  project: null,
});

/**
 * The `openai` client over one attempt of a call: it writes requests and parses answers, the attempt knows addresses, keys, limits
 * and failures. Made for each attempt, which takes 35 µs.
 */
export const openAiClient = ({ send }: Attempt, onSent?: (body: string) => void): OpenAI =>
  client.withOptions({
    fetch: async (url, init) => {
      const body = String(init?.body);
      onSent?.(body);
      const exchange = await send(String(url).slice(BASE.length) as Operation, body);
      return new Response(exchange.body(), {
        status: exchange.status,
        // Whatever a provider calls it: what is no JSON does not parse.
        headers: { 'content-type': 'application/json' },
      });
    },
  });
