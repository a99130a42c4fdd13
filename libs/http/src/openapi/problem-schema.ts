import { z } from 'zod';
import { type ErrorCode, errorRegistry } from '../error-registry';

const fault = z.object({
  path: z.string().describe('The field, parameter or header.'),
  code: z.string().describe('What kind of fault it is.'),
  message: z.string().describe('What is wrong with it.'),
});

/** A problem document, as `sendProblem` sends it. */
export const problem = z
  .object({
    type: z.string().describe('A URN that ends with `code`.'),
    title: z.string().describe('The problem in short, the same each time.'),
    status: z.number().int().describe('The status of the response.'),
    code: z.enum(Object.keys(errorRegistry) as [ErrorCode, ...ErrorCode[]]).describe('What went wrong; stable.'),
    detail: z.string().describe('What went wrong this time, and what to do.'),
    requestId: z.string().describe('Finds the request in the log.'),
    errors: z.array(fault).optional().describe('Each field, parameter or header that is wrong.'),
    outcome: z.enum(['none', 'unknown']).optional().describe('On 503 of a write: whether it may have happened.'),
    conversationId: z.string().optional().describe('Of an answer that failed: its conversation.'),
    messageId: z.string().optional().describe('Of an answer that failed: its message.'),
    text: z.string().optional().describe('On 422 `no_object_generated`: what the model said last.'),
    limitId: z.string().optional().describe('On 429 `usage_limit_exceeded`: the limit that is reached.'),
    scope: z.string().optional().describe('What that limit is for.'),
    window: z.string().optional().describe('The window of that limit.'),
    resetsAt: z.string().nullable().optional().describe('When that window ends; null for one over all time.'),
    amount: z.string().optional().describe("The amount of the caller's own limit, a decimal."),
    spent: z.string().optional().describe("What is spent of the caller's own limit, a decimal."),
    currency: z.string().optional().describe('The currency of that limit, where calls cost another.'),
    held: z.string().optional().describe("What calls that run hold of the caller's own limit, a decimal."),
  })
  .meta({ id: 'Problem', description: 'What went wrong (RFC 9457). `code` is stable.' });
