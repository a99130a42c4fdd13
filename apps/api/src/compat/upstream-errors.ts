import { GatewayError } from '@app/http';
import { DIMENSIONS_MISMATCH, isUpstreamFailure, type UpstreamFailure } from '@app/models';

const CODE = 'upstream_error';

/** What a client learns of a provider's failure: nothing in its words, and never that its own key were wrong. */
const ofFailure = (failure: UpstreamFailure): GatewayError => {
  const { kind, facts } = failure;
  const fault = { code: CODE, cause: failure };
  const wait =
    facts.retryAfterSeconds === undefined ? {} : { headers: { 'retry-after': String(facts.retryAfterSeconds) } };
  switch (kind) {
    case 'rejected':
      return rejected(facts);
    case 'rate-limited':
      return new GatewayError(429, 'The model provider is limiting requests. Retry later.', {
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        ...wait,
      });
    case 'timeout':
      return new GatewayError(504, 'The model provider did not answer in time.', fault);
    case 'unreachable':
      return new GatewayError(503, 'The model provider cannot be reached.', {
        ...fault,
        headers: { 'retry-after': '1' },
      });
    case 'open':
      return new GatewayError(503, 'The model provider failed too often. Retry in a moment.', {
        ...fault,
        ...wait,
      });
    case 'aborted':
      return new GatewayError(499, 'The client left.', { code: 'client_closed_request' });
    case 'broken':
      return new GatewayError(502, 'The model provider failed.', fault);
  }
};

/** Status, field and code are the provider's, the words ours. */
const rejected = ({ status = 400, param, code }: UpstreamFailure['facts']): GatewayError => {
  const named = { param: param ?? null, code: code ?? null };
  if (code === DIMENSIONS_MISMATCH)
    return new GatewayError(status, 'The model gives vectors of other dimensions than MODELS_FILE describes.', named);
  if (code === 'context_length_exceeded')
    return new GatewayError(status, "The request is longer than this model's maximum context length.", named);
  return new GatewayError(
    status,
    param === undefined
      ? 'The model provider rejected the request.'
      : `The model provider rejected the request because of '${param}'.`,
    named,
  );
};

/** The same error, or what a client learns of it where a provider is to blame. */
export const upstreamError = (error: unknown): unknown => (isUpstreamFailure(error) ? ofFailure(error) : error);

/** How a stream that broke tells its client. */
export const streamError = (failure: UpstreamFailure): string => ofFailure(failure).body;
