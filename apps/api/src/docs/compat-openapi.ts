/** How the compatible API documents its errors: one envelope for all of them. */
export const errorEnvelopeSchema = {
  type: 'object',
  description: 'An error of the compatible API, in the form that its clients know.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: { type: 'string' },
        type: { type: 'string' },
        param: { type: ['string', 'null'] },
        code: { type: ['string', 'null'] },
      },
    },
  },
};

const descriptions: Readonly<Record<number, string>> = {
  400: 'Malformed JSON, or `missing_required_parameter`, `invalid_type`, `invalid_value`, `unsupported_parameter`; of rerank `invalid_body`, `invalid_input`.',
  401: '`invalid_api_key`',
  403: '`forbidden`',
  404: '`model_not_found`',
  413: '`too_large`',
  415: '`unsupported_media_type`',
  429: '`usage_limit_exceeded`, `rate_limit_exceeded`',
  500: 'A fault of the platform.',
  502: '`upstream_error`: the model provider failed.',
  503: '`upstream_error`, `unavailable`',
  504: '`upstream_error`: the model provider did not answer in time.',
};

const READS: ReadonlySet<number> = new Set([401, 403, 404, 429, 500, 503]);

export const isCompatPath = (path: string): boolean => path.startsWith('/api/compat/');

/** The errors of an operation. */
export const envelopeResponses = (method: string): Record<string, object> =>
  Object.fromEntries(
    Object.entries(descriptions)
      .filter(([status]) => method !== 'GET' || READS.has(Number(status)))
      .map(([status, description]) => [
        status,
        { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } } } },
      ]),
  );
