import type { Caller } from '@app/access';
import { Access } from '@app/access';
import {
  Answers,
  BodyInput,
  CurrentCaller,
  Documented,
  type Input,
  type JsonText,
  presenter,
  Reads,
  Rejects,
  Requires,
} from '@app/http';
import { placeOf, textSchema } from '@app/kernel';
import { KnownTags, PLACES, Retrieval, type Retrieved } from '@app/knowledge';
import { type ShownSummary, SummariesBeside } from '@app/section-summaries';
import { Controller, Param, Post, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { shownSummary } from '../llm/conversations-schemas';
import { chunkPosition } from './documents-schemas';

const search = z.strictObject({
  query: textSchema(10_000)
    .refine((text) => text.trim() !== '', { message: 'must not be empty' })
    .describe('What to search for.'),
  topK: z.number().int().min(1).max(100).default(PLACES).describe('Maximum passages to return.'),
  mode: z
    .enum(['hybrid', 'text', 'vector'])
    .default('hybrid')
    .describe('Search by words (`text`), by meaning (`vector`), or both (`hybrid`).'),
  tagIds: z.array(z.uuid()).min(1).max(100).optional().describe('Only documents with at least one of these tags.'),
  rerank: z
    .boolean()
    .optional()
    .describe('Ranks the results with the configured reranker. On by default, unless that is the local one.'),
});

const hit = z
  .object({
    documentId: z.string().describe('The id of the document.'),
    documentName: z.string().describe('Its name.'),
    chunkId: z.string().describe('The id of the best matching chunk.'),
    chunkIds: z.array(z.string()).describe('The ids of all chunks in the text. Adjacent chunks are joined.'),
    text: z.string().describe('The text.'),
    position: chunkPosition.describe('Its position in the text.'),
    score: z.number().describe('How well it matches; higher is better.'),
    textRank: z.number().int().nullable().describe('Its rank by words, or null.'),
    vectorRank: z.number().int().nullable().describe('Its rank by meaning, or null.'),
    rerankRank: z.number().int().optional().describe('Its rank by the reranker, if it was used.'),
    scope: z.enum(['agent', 'space', 'global']).describe('The scope of its document.'),
    summary: shownSummary.optional().describe("The summary of the chunk's section, if the Agent includes summaries."),
  })
  .meta({ id: 'SearchHit' });

const found = presenter(
  'SearchResult',
  z.object({
    items: z.array(hit).describe('The passages, best first.'),
    degraded: z
      .array(z.enum(['vector', 'rerank']))
      .optional()
      .describe('Models that did not answer in time. The search ran without them.'),
  }),
);

@Documented('Documents')
@Controller('/api/v1/core/knowledge/:agentId/search')
export class SearchController {
  constructor(
    private readonly access: Access,
    private readonly known: KnownTags,
    private readonly retrieval: Retrieval,
    private readonly summaries: SummariesBeside,
  ) {}

  @Post()
  @Requires('knowledge:read')
  @ApiOperation({
    operationId: 'searchDocuments',
    summary: 'Searches as the Agent does, and returns the passages that it would answer from.',
  })
  @Answers(200, found.schema)
  @Rejects('usage_limit_exceeded')
  @Reads('passages', 'documents')
  async search(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(search) body: Input<typeof search>,
    @Res({ passthrough: true }) { raw }: FastifyReply,
  ): Promise<JsonText> {
    const left = new AbortController();
    raw.once('close', () => left.abort());
    const agent = await this.access.agent(caller, agentId, 'use');
    const { query: text, topK: limit, mode, tagIds, rerank } = body.parse();
    await this.known.assert(agent.spaceId, tagIds ?? []);
    const { items, degraded } = await this.retrieval.search(
      agent,
      {
        text,
        limit,
        mode,
        ...(tagIds === undefined ? {} : { tagIds }),
        ...(rerank === undefined ? {} : { rerank }),
      },
      {
        userId: caller.userId,
        ...(caller.keyId === undefined ? {} : { keyId: caller.keyId }),
        holds: true,
        signal: left.signal,
      },
    );
    const summaries = agent.agent.version.config.includeAiSummary
      ? await this.summaries.of(agent, items)
      : new Map<string, ShownSummary>();
    return found({
      items: items.map((item) => ({ ...shown(item), ...summaryOf(summaries.get(item.chunkId)) })),
      ...(degraded.length === 0 ? {} : { degraded }),
    });
  }
}

const shown = ({ start, end, page, slide, sheet, row, headings, scope, chunks, ...passage }: Retrieved) => ({
  ...passage,
  chunkIds: chunks.map(({ chunkId }) => chunkId),
  position: { start, end, ...placeOf({ page, slide, sheet, row }), heading: headings.at(-1) },
  scope: scope === 'g' ? 'global' : scope.startsWith('s:') ? 'space' : 'agent',
});

const summaryOf = (summary: ShownSummary | undefined): { readonly summary?: ShownSummary } =>
  summary === undefined ? {} : { summary };
