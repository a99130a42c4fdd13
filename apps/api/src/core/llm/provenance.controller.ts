import type { Caller } from '@app/access';
import { Access } from '@app/access';
import { type AnswerProvenance, type Provenance, ProvenanceReader } from '@app/conversations';
import {
  Answers,
  CurrentCaller,
  Documented,
  ForwardingInterceptor,
  type JsonText,
  presenter,
  Reads,
  Rejects,
  Requires,
} from '@app/http';
import { invocationUsage } from '@app/models';
import { GetConversation } from '@projections/conversations';
import { Controller, Get, Param, UseInterceptors } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import { z } from 'zod';
import { DeletedSources } from './deleted-sources';
import { IncognitoAnswers } from './incognito-answers';

const view = presenter(
  'AnswerProvenance',
  z.object({
    messageId: z.string().describe('The id of the answer.'),
    agentRevision: z.number().int().nullable().describe('The revision of the Agent that answered.'),
    prompt: z
      .object({
        revision: z.number().int().describe('The revision of the Agent that set the prompt.'),
        hash: z.string().describe('SHA-256 of the prompt.'),
      })
      .nullable()
      .describe('The system prompt.'),
    model: z.string().describe('The model that answered.'),
    priceVersion: z.string().nullable().describe('The prices that applied.'),
    sampling: z
      .object({
        temperature: z.number().optional().describe('The temperature.'),
        topP: z.number().optional().describe('Top-p.'),
        topK: z.number().optional().describe('Top-k.'),
      })
      .nullable()
      .describe('The sampling settings in effect.'),
    chunks: z
      .array(
        z.object({
          documentId: z.string().describe('The document.'),
          documentRevision: z.number().int().describe('The revision that was indexed.'),
          chunkId: z.string().describe('The chunk.'),
          hash: z.string().describe('SHA-256 of its text.'),
          rank: z.number().int().describe('Its rank among the results, from 1.'),
          deleted: z.literal(true).optional().describe('Present if the document has been deleted since.'),
        }),
      )
      .describe('The chunks given to the model, best first.'),
    toolCalls: z
      .array(
        z.object({
          callId: z.string().describe('The call.'),
          name: z.string().describe('The tool.'),
          status: z.string().describe('Its outcome.'),
        }),
      )
      .describe('The tools that were called.'),
    checkpointId: z.string().nullable().describe('The summary used instead of the beginning of the conversation.'),
    invocations: z
      .array(
        z.object({
          id: z.string().describe('The invocation.'),
          usage: invocationUsage.describe('Its tokens and cost.'),
        }),
      )
      .describe('The model calls made for it.'),
    skills: z
      .array(
        z.object({
          skillId: z.string().describe('The Skill.'),
          versionId: z.string().describe('Its version.'),
          contentHash: z.string().describe('The content hash of that version.'),
          files: z
            .array(
              z.object({
                path: z.string().describe('Its path in the Skill.'),
                sha256: z.string().describe('SHA-256 of its bytes.'),
              }),
            )
            .describe('The reference files that the answer read.'),
          deleted: z.literal(true).optional().describe('Present if the Skill has been deleted since.'),
        }),
      )
      .describe('The Skills loaded by this answer, or earlier in the conversation.'),
    memories: z
      .array(
        z.object({
          memoryId: z.string().describe('The memory.'),
          revision: z.number().int().describe('Its revision.'),
          kind: z
            .enum(['personal', 'shared'])
            .describe('`personal`: only for the user. `shared`: for everybody who uses the Agent.'),
          rank: z.number().int().describe('Its position among the memories given, from 1.'),
          tokens: z.number().int().describe('Its approximate number of tokens.'),
          deleted: z.literal(true).optional().describe('Present if the memory has been deleted since.'),
        }),
      )
      .describe('The memories given to the model.'),
    memoryState: z
      .enum(['applied', 'off', 'unavailable'])
      .describe('Whether memories were applied, turned off, or could not be read.'),
    request: z
      .string()
      .optional()
      .describe('The last request to the provider, unchanged, as base64. Needs the permission `audit:content`.'),
    missing: z
      .array(z.string())
      .describe(
        'What is missing: fields that earlier versions did not record, `skills` that could not be read, `earlierMessages` that were left out, `request`, and what is missing in it (`document:`, `memory:`, `skill:`, `message:` or `checkpoint:`, with an id).',
      ),
  }),
);

/** What of an answer was not recorded before there was provenance. */
const UNKNOWN = ['agentRevision', 'prompt', 'priceVersion', 'sampling', 'chunks', 'checkpointId', 'invocations'];

/** Ids of sources that were deleted since. */
interface Deleted {
  readonly document: ReadonlySet<string>;
  readonly memory: ReadonlySet<string>;
  readonly skill: ReadonlySet<string>;
}

const NO_MEMORY = { memories: [], memoryState: 'off' };

/** What answers were made from. */
@Documented('Conversations')
@UseInterceptors(ForwardingInterceptor)
@Controller('/api/v1/core/llm/:agentId/conversation/:conversationId/messages/:messageId/provenance')
export class ProvenanceController {
  constructor(
    private readonly access: Access,
    private readonly reader: ProvenanceReader,
    private readonly incognito: IncognitoAnswers,
    private readonly sources: DeletedSources,
    private readonly queries: QueryBus,
  ) {}

  @Get()
  @Requires('llm')
  @ApiOperation({
    operationId: 'getAnswerProvenance',
    summary: 'Reads what an answer was made from, as it was recorded with the answer. Nothing is run again.',
  })
  @Answers(200, view.schema)
  @Rejects('conflict')
  @Reads('conversations')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @Param('messageId') messageId: string,
  ): Promise<JsonText> {
    await this.access.agent(caller, agentId, 'use');
    this.incognito.rejectUnkept({ userId: caller.userId, agentId }, conversationId);
    await this.queries.execute(new GetConversation(caller.userId, agentId, conversationId));
    const answer = await this.reader.of(conversationId, messageId);
    const deleted = await this.deleted(answer.made);
    const request = caller.permissions.has('audit:content')
      ? await this.request(conversationId, answer.made, await this.withSkills(answer.made, deleted))
      : { missing: [] };
    return view(shown(answer, deleted, request));
  }

  private async deleted(made: Provenance | undefined): Promise<Deleted> {
    const { chunks = [], memories = [], skills = [] } = made ?? {};
    const [document, memory, skill] = await Promise.all([
      this.sources.documents(chunks.map(({ documentId }) => documentId)),
      this.sources.memories(memories.map(({ memoryId }) => memoryId)),
      this.sources.skills(skills.map(({ skillId }) => skillId)),
    ]);
    return { document, memory, skill };
  }

  /** A request holds names and descriptions of Skills that were not loaded, too. */
  private async withSkills(made: Provenance | undefined, deleted: Deleted): Promise<Deleted> {
    const named = await this.sources.skills(await this.reader.skillsIn(made));
    return { ...deleted, skill: new Set([...deleted.skill, ...named]) };
  }

  /** What holds a source that is deleted is shown to nobody any more. */
  private async request(conversationId: string, made: Provenance | undefined, deleted: Deleted) {
    const sources = Object.entries(deleted).flatMap(([kind, ids]) => [...ids].map((id) => `${kind}:${id}`));
    const { body, gone } = await this.reader.request(conversationId, made);
    return body === undefined || sources.length > 0
      ? { missing: [...new Set(['request', ...sources, ...gone])] }
      : { request: Buffer.from(body).toString('base64'), missing: [] };
  }
}

const shown = (
  { made, ...answer }: AnswerProvenance,
  deleted: Deleted,
  { missing, ...request }: { readonly request?: string; readonly missing: readonly string[] },
): object => {
  const { messageId, model, toolCalls } = answer;
  if (made === undefined)
    return {
      messageId,
      agentRevision: null,
      prompt: null,
      model,
      priceVersion: null,
      sampling: null,
      chunks: [],
      toolCalls,
      checkpointId: null,
      invocations: [],
      ...NO_MEMORY,
      skills: [],
      missing: [...UNKNOWN, ...missing],
    };
  const { isCut, request: _, chunks, skills, memories, ...fields } = made;
  // Earlier versions had neither.
  const lacksSkills = skills === undefined && made.memoryState !== undefined;
  return {
    messageId,
    model,
    ...NO_MEMORY,
    ...fields,
    memories: (memories ?? []).map((memory) => marked(memory, deleted.memory.has(memory.memoryId))),
    skills: (skills ?? []).map((skill) => marked(skill, deleted.skill.has(skill.skillId))),
    chunks: chunks.map((chunk) => marked(chunk, deleted.document.has(chunk.documentId))),
    toolCalls,
    ...request,
    missing: [...(isCut === true ? ['earlierMessages'] : []), ...(lacksSkills ? ['skills'] : []), ...missing],
  };
};

const marked = <Source extends object>(source: Source, isDeleted: boolean): Source & { deleted?: true } =>
  isDeleted ? { ...source, deleted: true } : source;
