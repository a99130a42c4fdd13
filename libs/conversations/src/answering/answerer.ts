import {
  callWindow,
  type ChatMessage,
  type ChatRequest,
  estimatedTokens,
  messageTokens,
  mostTokens,
  requestTokens,
  textOfMessage,
  type TokenUsage,
  usageOf,
} from '@app/models';
import type { MeteredCall } from '@app/spending';
import { AnswerRun, type AnswerToMake } from './answer-run';
import { type AnswererParts, type AnsweringAgent, type Outcome, USUAL_OUTPUT } from './answering';
import type { Requester, Retrieved } from './retriever';
import { searchText } from './sources';

/** Tokens that are held beside the question and what was said before: for passages. */
const USUAL_INPUT = 8_000;

/** What an Agent without Knowledge answers from. */
const NOTHING: Retrieved = { passages: [], degraded: [] };

/** Answers one question: retrieves passages, calls the model, reads its citations. A failure is an answer too, with the text before it. */
export class Answerer {
  constructor(private readonly parts: AnswererParts) {}

  /**
   * Reserves the highest cost of an answer. `history` is the conversation before the question, `images` the tokens of
   * images that it does not include. Rejects `usage_limit_exceeded`; undefined for an unknown model, which the answer
   * will report.
   */
  async reserve(
    { agentId, spaceId, model: key, systemPrompt }: AnsweringAgent,
    { userId, keyId }: Requester,
    question: string,
    history: readonly ChatMessage[],
    images = 0,
  ): Promise<MeteredCall | undefined> {
    const model = this.parts.models.catalogue.models.get(key ?? this.parts.models.catalogue.defaultModel);
    if (model?.kind !== 'chat') return undefined;
    const mayAnswer = this.parts.models.provider(model).mayAnswer(model);
    const input = USUAL_INPUT + estimatedTokens(systemPrompt) + estimatedTokens(question) + images;
    const mostInput = Math.min(
      history.reduce(
        (sum, message) => sum + messageTokens(message).most,
        USUAL_INPUT + mostTokens(systemPrompt) + mostTokens(question) + images,
      ),
      callWindow(mayAnswer, input).input,
    );
    const estimate = usageOf({ input, output: USUAL_OUTPUT });
    return this.parts.metering.begin({
      userId,
      ...(keyId === undefined ? {} : { keyId }),
      agentId,
      spaceId,
      kind: 'chat',
      isAskedFor: true,
      model,
      mayAnswer,
      estimate,
      mostInput,
    });
  }

  /** Makes an answer, or continues one that waited. A failure is an answer too, with the text before it. */
  async answer(answer: AnswerToMake): Promise<Outcome> {
    const { agent, requester, messages, signal } = answer;
    const question = messages.findLast(({ role }) => role === 'user');
    const begun = answer.begun ?? (await this.parts.beginnings.incognito(agent, searchText(messages)));
    return new AnswerRun(
      this.parts,
      { ...answer, begun },
      {
        reserve: (said) => this.reserve(agent, requester, question === undefined ? '' : textOfMessage(question), said),
        retrieve: async (metered) =>
          agent.knowledgeEnabled
            ? this.parts.retriever.retrieve(agent, searchText(messages), {
                ...requester,
                signal,
                holds: metered?.isHeld !== true,
              })
            : NOTHING,
        seen: seenOf,
      },
    ).run();
  }
}

/** What was given and said. */
const seenOf = (request: ChatRequest, text: string): TokenUsage =>
  usageOf({ input: requestTokens(request, request.model).counted, output: estimatedTokens(text) });
