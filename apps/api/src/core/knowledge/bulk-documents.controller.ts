import type { Caller } from '@app/access';
import {
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  presenter,
  Requires,
  Writes,
} from '@app/http';
import { type CommandMeta, givenFields, streamOf } from '@app/kernel';
import { bulkOperation, UpdateDocuments, KnownTags, MOST_DOCUMENTS } from '@app/knowledge';
import { Controller, Param, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { KnowledgeAccess } from './document-access';

/** Ids of documents, each once. Whatever is no id of one is an unknown one. */
export const documentIds = z
  .array(z.string().min(1).max(100))
  .min(1)
  .max(MOST_DOCUMENTS)
  .superRefine((ids, context) => {
    const seen = new Set<string>();
    for (const [index, id] of ids.entries()) {
      if (seen.has(id)) context.addIssue({ code: 'custom', path: [index], message: 'Is named twice. Name each once.' });
      seen.add(id);
    }
  });

const bulkChange = z
  .strictObject({
    operation: bulkOperation.describe('What to do with each document.'),
    documentIds: documentIds.describe(`The ids of the documents, without repeats; at most ${MOST_DOCUMENTS}.`),
    tagId: z.uuid().optional().describe('The tag to add or remove.'),
  })
  .superRefine(({ operation, tagId }, context) => {
    const isOfTags = operation === 'addTag' || operation === 'removeTag';
    if (isOfTags === (tagId !== undefined)) return;
    const message = isOfTags ? 'Is required to add or remove a tag.' : 'Is only allowed with addTag and removeTag.';
    context.addIssue({ code: 'custom', path: ['tagId'], message });
  });

const result = z.object({
  documentId: z.string().describe('The id of the document.'),
  ok: z.boolean().describe('Whether it succeeded. Also true if there was nothing to do.'),
  code: z
    .string()
    .optional()
    .describe('Why it failed; stable. `not_found` also for documents that this Agent does not search.'),
});
const bulkResults = presenter(
  'BulkResults',
  z.object({ results: z.array(result).describe('The outcome for each document, in the order of the request.') }),
);

/** What is done to many documents at once. */
@Documented('Documents')
@Controller('/api/v1/core/knowledge/:agentId/documents')
export class BulkDocumentsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly knowledge: KnowledgeAccess,
    private readonly tags: KnownTags,
    private readonly writes: Writes,
  ) {}

  @Post('bulk')
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'changeDocuments',
    summary:
      'Updates many documents: adds or removes a tag, ingests them again, or deletes them. Each has its own outcome: if one fails, the others go on. Repeat with the same `Idempotency-Key` to finish an interrupted request.',
  })
  @Answers(200, bulkResults.schema)
  async change(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(bulkChange) body: Input<typeof bulkChange>,
    @CommandContext({ hasEtag: false }) meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const agent = await this.knowledge.writeSomewhere(caller, agentId);
    const { tagId, ...asked } = body.parse();
    await this.tags.assert(agent.spaceId, tagId === undefined ? [] : [tagId], 'tagId');
    const levels = await this.knowledge.levels(caller, agentId);
    const change = { agent, levels, ...asked, ...givenFields({ tagId }) };
    const { results, receipts } = await this.commands.execute(new UpdateDocuments(change, meta));
    return this.writes.answerTogether(reply, receipts, {
      views: ['documents', 'tags', 'passages'],
      keptWith: streamOf('agent', agentId),
      json: bulkResults({ results: [...results] }),
    });
  }
}
