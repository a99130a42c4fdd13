import { z } from 'zod';

/** How documents are cut into chunks, in tokens of `cl100k_base`. Agents and Spaces set it; Knowledge applies it. */
export const chunkingSchema = z
  .strictObject({
    maxTokens: z.number().int().min(50).max(1_000).describe('Maximum tokens per chunk.'),
    overlapTokens: z
      .number()
      .int()
      .min(0)
      .max(500)
      .describe('Maximum tokens that a chunk shares with the previous one; at most half of `maxTokens`.'),
  })
  .refine(({ maxTokens, overlapTokens }) => overlapTokens <= maxTokens / 2, {
    path: ['overlapTokens'],
    message: 'must be at most half of maxTokens',
  });
export type Chunking = z.output<typeof chunkingSchema>;
