import { isErased, reject } from '@app/kernel';
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Provenance, RequestTemplate } from '../conversation/provenance.schema';
import { DocumentCopies } from './document-copies';
import { History, type RecordedAnswer } from './history';
import { AGENT_MEMORIES, type AgentMemories } from './memories';
import { sentRequest, skillsOf, textsOf } from './sent-request';
import { skillTextAt } from './skill-texts';
import { AGENT_SKILLS, type AgentSkills } from './skills';
import { lineOf } from './turn-memories';

/** What an answer was made from, as its own events say it. */
export interface AnswerProvenance extends Pick<RecordedAnswer['data'], 'messageId' | 'model'> {
  /** Undefined for an answer of an earlier version, and one that was made from nothing. */
  readonly made: Provenance | undefined;
  readonly toolCalls: readonly { readonly callId: string; readonly name: string; readonly status: string }[];
}

/**
 * A request byte for byte; undefined if it was not stored, or if parts of it are `gone`: by kind and id, such as
 * `message:…`.
 */
export interface ReadRequest {
  readonly body: string | undefined;
  readonly gone: readonly string[];
}

type Place = Exclude<RequestTemplate[number], string>;

/** Reads what answers were made from. Nothing is run again. */
@Injectable()
export class ProvenanceReader {
  /** Without `memories` or `skills` nobody has any. */
  constructor(
    private readonly history: History,
    @Inject(DocumentCopies) private readonly copies: Pick<DocumentCopies, 'text'>,
    @Optional() @Inject(AGENT_MEMORIES) private readonly memories: Pick<AgentMemories, 'textAt'> | undefined,
    @Optional() @Inject(AGENT_SKILLS) private readonly skills: AgentSkills | undefined,
  ) {}

  /** Rejects `not_found` if it is not an answer of the conversation. */
  async of(conversationId: string, messageId: string): Promise<AnswerProvenance> {
    const answer = await this.history.answer(conversationId, messageId);
    if (answer === undefined) return reject('not_found', { kind: 'message', id: messageId });
    const { parts, model, provenance: made } = answer.data;
    const toolCalls = isErased(parts)
      ? []
      : parts.flatMap((part) =>
          part.type === 'tool' ? [{ callId: part.toolCallId, name: part.toolName, status: part.state }] : [],
        );
    return { messageId, model, made, toolCalls };
  }

  /** The Skills that the kept request of an answer holds something of. */
  async skillsIn(made: Provenance | undefined): Promise<readonly string[]> {
    const template = made?.request?.template;
    return template === undefined || isErased(template) ? [] : [...(await skillsOf(template)).all];
  }

  /** The last request that a provider was sent for an answer, as it was kept. */
  async request(conversationId: string, made: Provenance | undefined): Promise<ReadRequest> {
    const request = made?.request;
    if (request === undefined || isErased(request.template)) return { body: undefined, gone: [] };
    const { loaded } = await skillsOf(request.template);
    const gone = new Set<string>();
    const body = await sentRequest({ template: request.template, hash: request.hash }, async (place) => {
      const text = await this.textAt(conversationId, place, made, loaded);
      if (text === undefined) gone.add(nameOf(place));
      return text;
    });
    return { body, gone: [...gone] };
  }

  private async textAt(
    conversationId: string,
    place: Place,
    made: Provenance | undefined,
    loaded: Iterable<string>,
  ): Promise<string | undefined> {
    if ('checkpointId' in place) {
      const summary = (await this.history.checkpoint(conversationId, place.checkpointId))?.data.summary;
      return isErased(summary) ? undefined : summary;
    }
    if ('memoryId' in place) {
      const applied = made?.memories?.find(({ memoryId }) => memoryId === place.memoryId);
      const text = applied && (await this.memories?.textAt(applied.memoryId, applied.revision));
      return applied === undefined || text === undefined ? undefined : lineOf({ ...applied, text });
    }
    if ('documentId' in place) return this.copies.text(place);
    if ('skillId' in place) return this.skills && skillTextAt(this.skills, place);
    const message = await this.history.message(conversationId, place.messageId);
    return message === undefined ? undefined : textsOf(message.after(place), loaded)[place.text];
  }
}

const nameOf = (place: Place): string => {
  if ('checkpointId' in place) return `checkpoint:${place.checkpointId}`;
  if ('memoryId' in place) return `memory:${place.memoryId}`;
  if ('documentId' in place) return `document:${place.documentId}`;
  return 'skillId' in place ? `skill:${place.skillId}` : `message:${place.messageId}`;
};
