import type { ChatChunk, ChatProvider, ChatRequest, ChatResult, ChatSource } from '../provider';
import { estimatedTokens, usageOf } from '../usage';
import { extractsFor } from './extract';

const NOT_FOUND = 'The documents do not answer this. The local model only quotes documents.';
const NO_SOURCES = 'No document matches this question. The local model only quotes documents.';

/** The chat model that needs no network: it answers with the sentences of the sources that cover the question best, and says so when none does. */
export class ExtractiveChat implements ChatProvider {
  async complete(request: ChatRequest): Promise<ChatResult> {
    let text = '';
    for await (const chunk of this.stream(request)) {
      if (chunk.type === 'text') text += chunk.text;
      else {
        const { type: _, ...finish } = chunk;
        return { text, ...finish };
      }
    }
    throw new Error('the answer has no end');
  }

  async *stream({ model, messages, sources, signal }: ChatRequest): AsyncIterable<ChatChunk> {
    const question = messages.at(-1)?.text ?? '';
    const pieces = answer(question, sources);
    for (const text of pieces) {
      signal.throwIfAborted();
      yield { type: 'text', text };
    }
    const input = [...messages.map(({ text }) => text), ...sources.map(({ text }) => text)].join('\n');
    yield {
      type: 'finish',
      model,
      finishReason: 'stop',
      usage: usageOf({ input: estimatedTokens(input), output: estimatedTokens(pieces.join('')) }),
      usageSource: 'counted',
    };
  }
}

const answer = (question: string, sources: readonly ChatSource[]): readonly string[] => {
  if (sources.length === 0) return [NO_SOURCES];
  const extracts = extractsFor(question, sources);
  if (extracts.length === 0) return [NOT_FOUND];
  return extracts.map(({ text, source }, index) => `${index === 0 ? '' : ' '}${text} [${source}]`);
};
