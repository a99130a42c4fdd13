import { EventEmitter } from 'node:events';
import type { Caller } from '@app/access';
import type { OpenStreams } from '@app/http';
import type { Config } from '@app/kernel';
import { type ModelDescription, type Models, type Route, UpstreamFailure } from '@app/models';
import { OpenAiProvider } from '../../../../libs/models/src/upstream/openai-provider';
import type { Metering } from '@app/spending';
import type { FastifyReply } from 'fastify';
import { ChatGateway } from './chat-gateway';
import { EmbeddingsGateway } from './embeddings-gateway';
import { RerankGateway } from './rerank-gateway';

/** Of a model what a request says of it. */
const model = { key: 'm', modelId: 'm', maxTokensField: 'max_tokens' } as ModelDescription;
let asked: string[];

/** A catalogue that is read again without the model while a call waits for its limits: what gateways ask of it, of a provider and of the ledger. */
const reloaded = (): readonly [Models, Metering] => {
  const send = (_model: unknown, operation: string): never => {
    asked.push(operation);
    throw new UpstreamFailure('rejected', { status: 400 });
  };
  // Each stands for its whole type: gateways ask nothing else of them.
  const breaker = { admit: () => true, undecided: () => undefined };
  const route = {
    model,
    upstream: { send, breaker: () => breaker, description: { timeoutMs: 1_000, forward: [] } },
  } as unknown as Route;
  let provider = new OpenAiProvider(new Map([['m', [route]]]));
  const begin = async () => {
    provider = new OpenAiProvider(new Map());
    return { settle: () => undefined };
  };
  return [{ provider: () => provider } as unknown as Models, { begin } as unknown as Metering];
};

describe('a call whose model is taken out of the catalogue while it waits', () => {
  const caller = { userId: 'u' } as Caller;
  // Of a reply only whether its client leaves.
  const reply = { raw: new EventEmitter() } as FastifyReply;
  beforeEach(() => (asked = []));

  it.each<[string, () => Promise<unknown>]>([
    [
      'chat/completions',
      () =>
        new ChatGateway(...reloaded(), {} as Config, {} as OpenStreams).answer(
          caller,
          model,
          { messages: [{ role: 'user', content: 'Hi' }] },
          reply,
        ),
    ],
    ['embeddings', () => new EmbeddingsGateway(...reloaded()).answer(caller, model, { input: 'Hi' }, reply)],
    ['rerank', () => new RerankGateway(...reloaded()).answer(caller, model, { query: 'Hi', documents: ['Hi'] }, reply)],
  ])('goes to the provider that it was for: %s', async (operation, answered) => {
    await expect(answered()).rejects.toMatchObject({ status: 400 });
    expect(asked).toEqual([operation]);
  });
});
