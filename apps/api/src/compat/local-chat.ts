import { randomUUID } from 'node:crypto';
import {
  type ChatMessage,
  estimatedTokens,
  type ChatProvider,
  type ModelDescription,
  UpstreamFailure,
  usageOf,
} from '@app/models';
import type { OpenStreams } from '@app/http';
import type { FastifyReply } from 'fastify';
import type { CallRecord } from '@app/spending';
import type { ChatParameters } from './chat-parameters';
import type { Fields } from './checks';
import { EventWriter } from './event-writer';
import { latin1 } from './latin1';
import { upstreamError } from './upstream-errors';
import { chatUsage } from './usage-report';

interface LocalCall {
  readonly model: ModelDescription;
  readonly parameters: ChatParameters;
  readonly input: number;
  readonly record: CallRecord;
  readonly reply: FastifyReply;
  readonly streams: OpenStreams;
}

/** The local chat model in the common format. It says of itself that it answers from documents alone, which this API has none of. */
export const localChat = async (
  provider: ChatProvider,
  { model, parameters, input, record, reply, streams }: LocalCall,
): Promise<void> => {
  const left = new AbortController();
  const writer = new EventWriter(reply, streams);
  writer.onLeft = () => left.abort(new UpstreamFailure('aborted'));
  const { stream, includeUsage, messages } = parameters;
  const head = {
    id: `chatcmpl-${randomUUID()}`,
    object: stream ? 'chat.completion.chunk' : 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: model.key,
  };
  const said = provider.stream({
    model,
    system: '',
    messages: messages.map(localMessage),
    sources: [],
    sampling: {},
    signal: left.signal,
  });
  let text = '';
  try {
    const event = (chunk: object): string => latin1(`data: ${JSON.stringify({ ...head, ...chunk })}\n\n`);
    const delta = (fields: object, finish: string | null = null): string =>
      event({
        choices: [{ index: 0, delta: fields, logprobs: null, finish_reason: finish }],
        ...(includeUsage ? { usage: null } : {}),
      });
    if (stream) writer.write(delta({ role: 'assistant', content: '', refusal: null }));
    for await (const chunk of said) {
      if (chunk.type === 'text') {
        text += chunk.text;
        if (stream) writer.write(delta({ content: chunk.text }));
        continue;
      }
      if (chunk.type !== 'finish') continue;
      record.used({ usage: chunk.usage, source: 'counted' });
      record.succeeded();
      if (stream)
        writer.end(
          `${delta({}, 'stop')}${includeUsage ? event({ choices: [], usage: chatUsage(chunk.usage) }) : ''}data: [DONE]\n\n`,
        );
      else {
        writer.stop();
        const message = { role: 'assistant', content: text, refusal: null, annotations: [] };
        void reply.header('content-type', 'application/json').send(
          JSON.stringify({
            ...head,
            choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
            usage: chatUsage(chunk.usage),
          }),
        );
      }
    }
  } catch (error) {
    writer.stop();
    record.used({ usage: usageOf({ input, output: estimatedTokens(text) }), source: 'counted' });
    record.failed(error, usageOf({ input }));
    if (!writer.begun) throw upstreamError(error);
  } finally {
    record.settle();
  }
};

/** The local model knows questions and answers; the words of every other role are context. */
const localMessage = ({ role, content }: Fields): ChatMessage => ({
  role: role === 'assistant' ? 'assistant' : 'user',
  content: [{ type: 'text', text: textOf(content) }],
});

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? (content as Fields[]).map(({ text }) => (typeof text === 'string' ? text : '')).join('\n')
    : '';
};
