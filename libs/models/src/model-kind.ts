import { z } from 'zod';

/** What a model does. */
export const modelKind = z.enum(['chat', 'embedding', 'reranker', 'image', 'speech', 'transcription']);
export type ModelKind = z.output<typeof modelKind>;
