import type { Caller } from '@app/access';
import { Access } from '@app/access';
import { textSchema } from '@app/kernel';
import { KnownTags, Retrieval } from '@app/knowledge';
import type { SearchHit } from '@app/search-index';
import { Body, Controller, Param, Post } from '@nestjs/common';
import { z } from 'zod';
import { Accepts, Answers, CurrentCaller, input, JsonText, Reads, Refuses, Requires, Summary } from '../../http';

const search = z.strictObject({
  query: textSchema(10_000).refine((text) => text.trim() !== '', { message: 'must not be empty' }),
  topK: z.number().int().min(1).max(100).default(8),
  mode: z.enum(['hybrid', 'text', 'vector']).default('hybrid'),
  tagIds: z.array(z.uuid()).min(1).max(100).optional(),
});

const hit = z.object({
  documentId: z.string(),
  documentName: z.string(),
  chunkId: z.string(),
  text: z.string(),
  position: z.object({
    start: z.number().int(),
    end: z.number().int(),
    page: z.number().int().optional(),
    heading: z.string().optional(),
  }),
  score: z.number(),
  textRank: z.number().int().nullable(),
  vectorRank: z.number().int().nullable(),
  scope: z.enum(['agent', 'space', 'global']),
});

@Controller('/api/v1/core/knowledge/:agentId/search')
export class SearchController {
  constructor(
    private readonly access: Access,
    private readonly known: KnownTags,
    private readonly retrieval: Retrieval,
  ) {}

  @Post()
  @Requires('knowledge:read')
  @Summary('Searches as the Agent itself does: the passages it would answer from.')
  @Accepts(search)
  @Answers(200, z.object({ items: z.array(hit) }))
  @Refuses('upstream_error', 'upstream_timeout', 'usage_limit_exceeded')
  @Reads('passages')
  async search(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Body() body: unknown,
  ): Promise<JsonText> {
    const agent = await this.access.agent(caller, agentId, 'use');
    const { query: text, topK: limit, mode, tagIds } = input(search, body);
    await this.known.demand(agent.spaceId, tagIds ?? []);
    const hits = await this.retrieval.search(
      agent,
      { text, limit, mode, ...(tagIds === undefined ? {} : { tagIds }) },
      {
        userId: caller.userId,
        ...(caller.keyId === undefined ? {} : { keyId: caller.keyId }),
        holds: true,
        signal: new AbortController().signal,
      },
    );
    return new JsonText(JSON.stringify({ items: hits.map(shown) }));
  }
}

const shown = ({
  documentId,
  documentName,
  chunkId,
  text,
  start,
  end,
  page,
  headings,
  score,
  textRank,
  vectorRank,
  scope,
}: SearchHit): z.output<typeof hit> => ({
  documentId,
  documentName,
  chunkId,
  text,
  position: { start, end, page, heading: headings.at(-1) },
  score,
  textRank,
  vectorRank,
  scope: scope === 'g' ? 'global' : scope.startsWith('s:') ? 'space' : 'agent',
});
