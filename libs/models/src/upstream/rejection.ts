import type { Exchange } from './exchange';
import { UpstreamFailure } from './failure';

/** More of a refusal is not read. */
const MAX_REFUSAL_BYTES = 65_536;
/** Names of fields and codes as every provider writes them. Keys, hosts and sentences look otherwise. */
const FIELD = /^[a-z][a-z_0-9]{0,40}(?:[.[][a-z_0-9\].[]{0,60})?$/i;
const CODE = /^[a-z]{2,30}(?:_[a-z]{1,30}){0,6}$/;
const REJECTIONS: ReadonlySet<number> = new Set([400, 413, 422]);

/** What an answer that is no success means. Of the provider's words only field and code come through. */
export const rejectionOf = async (exchange: Exchange): Promise<UpstreamFailure> => {
  const { status } = exchange;
  const text = await exchange.whole(MAX_REFUSAL_BYTES).then(String, () => '');
  if (status === 429) return new UpstreamFailure('rate-limited', { status, ...retryAfterOf(exchange.headers['retry-after']) });
  if (!REJECTIONS.has(status)) return new UpstreamFailure('broken', { status });
  const { param, code } = namedIn(text);
  return new UpstreamFailure('rejected', {
    status,
    ...(typeof param === 'string' && FIELD.test(param) ? { param } : {}),
    ...(typeof code === 'string' && CODE.test(code) ? { code } : {}),
  });
};

const namedIn = (text: string): { readonly param?: unknown; readonly code?: unknown } => {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    return typeof error === 'object' && error !== null ? error : {};
  } catch {
    return {};
  }
};

/** Seconds; dates are left out, as they depend on the provider's clock. */
const retryAfterOf = (header: string | string[] | undefined): { readonly retryAfterSeconds?: number } =>
  typeof header === 'string' && /^\d{1,6}$/.test(header) ? { retryAfterSeconds: Number(header) } : {};
