import { z } from 'zod';
import { type ErrorCode, errorRegistry } from '../error-registry';

const fault = z.object({
  path: z.string().describe('The field, parameter or header.'),
  code: z.string().describe('The kind of error.'),
  message: z.string().describe('What is wrong with it.'),
});

/** A problem document, as `sendProblem` sends it. */
export const problem = z
  .object({
    type: z.string().describe('A URN that ends with `code`.'),
    title: z.string().describe('A short title, always the same for this code.'),
    status: z.number().int().describe('The status of the response.'),
    code: z.enum(Object.keys(errorRegistry) as [ErrorCode, ...ErrorCode[]]).describe('What went wrong; stable.'),
    detail: z.string().describe('What went wrong in this case, and what to do.'),
    requestId: z.string().describe('The id of the request, to find it in the log.'),
    errors: z.array(fault).optional().describe('Each field, parameter or header that is wrong.'),
    outcome: z.enum(['none', 'unknown']).optional().describe('On 503 of a write: whether it can have happened.'),
    conversationId: z.string().optional().describe('If an answer failed: its conversation.'),
    messageId: z.string().optional().describe('If an answer failed: its message.'),
    text: z.string().optional().describe("On 422 `no_object_generated`: the model's last answer."),
    limitId: z.string().optional().describe('On 429 `usage_limit_exceeded`: the limit that was reached.'),
    scope: z.string().optional().describe('What that limit applies to.'),
    window: z.string().optional().describe('The window of that limit.'),
    resetsAt: z.string().nullable().optional().describe('When that window ends; null if it has no end.'),
    amount: z.string().optional().describe("The amount of the caller's own limit, a decimal."),
    spent: z.string().optional().describe("How much of the caller's own limit is spent, a decimal."),
    currency: z.string().optional().describe('The currency of that limit, if calls are billed in another.'),
    held: z.string().optional().describe("How much of the caller's own limit running calls reserve, a decimal."),
  })
  .meta({ id: 'Problem', description: 'What went wrong (RFC 9457). `code` is stable.' });
