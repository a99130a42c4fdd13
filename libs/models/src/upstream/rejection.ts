import type { Exchange } from './exchange';
import { UpstreamFailure } from './failure';
import { retryAfterOf } from './retry-after';
import type { Operation } from './upstream';

/** More of a refusal is not read. */
const MAX_REFUSAL_BYTES = 65_536;
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
};
const REJECTIONS: ReadonlySet<number> = new Set([400, 413, 422]);

/** What an answer that is no success means. Of the provider's words only field and code come through. */
export const rejectionOf = async (exchange: Exchange, operation: Operation): Promise<UpstreamFailure> => {
  const { status } = exchange;
  const text = await exchange.whole(MAX_REFUSAL_BYTES).then(String, () => '');
  if (status === 429) return new UpstreamFailure('rate-limited', { status, ...retryAfterOf(exchange.headers) });
  if (!REJECTIONS.has(status)) return new UpstreamFailure('broken', { status });
  const said = refusalIn(text);
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

interface Refusal {
  readonly message?: unknown;
  readonly param?: unknown;
  readonly code?: unknown;
}

const codeOf = ({ code, message }: Refusal): string | undefined => {
  if (typeof code === 'string' && CODE.test(code)) return code;
  return typeof message === 'string' && SAYS_TOO_LONG.test(message) ? TOO_LONG : undefined;
};

/** Some servers have no `error` around it. */
const refusalIn = (text: string): Refusal => {
  try {
    const answer: unknown = JSON.parse(text);
    const { error = answer } = answer as { error?: unknown };
    return typeof error === 'object' && error !== null ? error : {};
  } catch {
    return {};
  }
};
