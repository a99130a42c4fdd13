import { z } from 'zod';

/** The level of Knowledge a document belongs to. */
export const documentScope = z.enum(['agent', 'space', 'global']);
export type DocumentScope = z.output<typeof documentScope>;
