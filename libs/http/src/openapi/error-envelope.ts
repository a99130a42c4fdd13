import type { ApiResponseOptions } from '@nestjs/swagger';
import { z } from 'zod';

/** The error envelope of the compatible API. */
export const errorEnvelope = z
  .object({
    error: z
      .object({
        message: z.string().describe('What is wrong, and what to do about it.'),
        type: z.string().describe('The kind of error, such as `invalid_request_error`.'),
        param: z.string().nullable().describe('The parameter that is wrong.'),
        code: z.string().nullable().describe('A stable code.'),
      })
      .describe('The error.'),
  })
  .meta({ id: 'ErrorEnvelope', description: 'An error of the compatible API, in the format that its clients expect.' });

const descriptions: Readonly<Record<number, string>> = {
  400: 'Malformed JSON, or `missing_required_parameter`, `invalid_type`, `invalid_value`, `unsupported_parameter`; of rerank `invalid_body`, `invalid_input`.',
  401: '`invalid_api_key`',
  403: '`forbidden`',
  404: '`model_not_found`',
  408: '`request_timeout`',
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
export const envelopeResponses = (method: string): ApiResponseOptions[] =>
  Object.entries(descriptions)
    .filter(([status]) => method !== 'GET' || READS.has(Number(status)))
    .map(([status, description]) => ({
      status: Number(status),
      description,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } } },
    }));
