import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange } from './exchange';
import { UpstreamFailure } from './failure';
import type { Operation } from './upstream';

/** More of a rejection is not read. */
const MAX_REJECTION_BYTES = 65_536;
/** Names of fields and codes as every provider writes them. Keys, hosts and sentences look otherwise. */
const FIELD = /^[a-z][a-z_0-9]{0,40}(?:[.[][a-z_0-9\].[]{0,60})?$/i;
const CODE = /^[a-z]{2,30}(?:_[a-z]{1,30}){0,6}$/;
/** What clients know a request by that has more tokens than the model takes, */
const TOO_LONG = 'context_length_exceeded';
/** how servers say it that have no code for it, */
const SAYS_TOO_LONG = /maximum context length|exceeds? the (?:available )?context (?:size|length|window)/i;
/** and the field that is too long then. */
const LONG_FIELDS: Readonly<Record<Operation, string>> = {
  'chat/completions': 'messages',
  embeddings: 'input',
  rerank: 'input',
  'images/generations': 'prompt',
  'images/edits': 'prompt',
  'audio/speech': 'input',
  'audio/transcriptions': 'file',
};
/** How Gemini and xAI say with 400 that our key is wrong: nothing of it is the client's. */
const SAYS_WRONG_KEY =
  /\b(?:incorrect|invalid|expired|missing)\b[^.]{0,20}\bAPI[ _-]?key\b|\bAPI[ _-]?key\b[^.]{0,20}\b(?:not valid|invalid|expired|incorrect)\b/i;
const REJECTIONS: ReadonlySet<number> = new Set([400, 413, 422]);

/** What an answer that is no success means. Of the provider's words only field and code come through. */
export const rejectionOf = async (exchange: Exchange, operation: Operation): Promise<UpstreamFailure> => {
  const { status } = exchange;
  const text = await exchange.whole(MAX_REJECTION_BYTES).then(String, () => '');
  if (status === 429) return new UpstreamFailure('rate-limited', { status, ...retryAfterOf(exchange.headers) });
  const said = rejectionIn(text);
  if (!REJECTIONS.has(status) || isOfKey(said)) return new UpstreamFailure('broken', { status });
  const code = codeOf(said);
  const param =
    typeof said.param === 'string' && FIELD.test(said.param)
      ? said.param
      : code === TOO_LONG
        ? LONG_FIELDS[operation]
        : undefined;
  return new UpstreamFailure('rejected', {
    status,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  });
};

interface Rejection {
  readonly message?: unknown;
  readonly param?: unknown;
  readonly code?: unknown;
}

const codeOf = ({ code, message }: Rejection): string | undefined => {
  if (typeof code === 'string' && CODE.test(code)) return code;
  return typeof message === 'string' && SAYS_TOO_LONG.test(message) ? TOO_LONG : undefined;
};

const isOfKey = ({ param, code, message }: Rejection): boolean =>
  code === 'invalid_api_key' || (!given(param) && typeof message === 'string' && SAYS_WRONG_KEY.test(message));

const given = (value: unknown): boolean => value !== undefined && value !== null;

/** Some servers have no `error` around it, a list around all, or its words alone. */
const rejectionIn = (text: string): Rejection => {
  try {
    const [answer] = [JSON.parse(text) as unknown].flat() as readonly unknown[];
    const { error = answer } = answer as { error?: unknown };
    if (typeof error === 'string') return { message: error };
    return typeof error === 'object' && error !== null ? error : {};
  } catch {
    return {};
  }
};

/** A longer wait is not believed. */
const MOST_SECONDS = 999_999;
/** The forms of a date in HTTP: the usual one, and two old ones that are still to be understood. */
const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const WEEKDAY_DATE = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const BARE_DATE = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * How long a provider wants to be left alone, told in seconds or as a date. A date counts from the one that the answer
 * bears, since the provider's clock may differ from ours.
 */
const retryAfterOf = ({ 'retry-after': told, date }: IncomingHttpHeaders): { readonly retryAfterSeconds?: number } => {
  const seconds = told === undefined ? undefined : /^\d+$/.test(told) ? Number(told) : secondsUntil(told, date);
  return seconds === undefined || seconds > MOST_SECONDS ? {} : { retryAfterSeconds: seconds };
};

const secondsUntil = (told: string, date: string | undefined): number | undefined => {
  const time = timeOf(told);
  return time === undefined ? undefined : Math.max(0, Math.ceil((time - (timeOf(date) ?? Date.now())) / 1_000));
};

/** Milliseconds; undefined for what is no date in HTTP. */
const timeOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const time =
    DATE.test(text) || WEEKDAY_DATE.test(text)
      ? Date.parse(text)
      : BARE_DATE.test(text)
        ? Date.parse(`${text} GMT`)
        : NaN;
  return Number.isNaN(time) ? undefined : time;
};
