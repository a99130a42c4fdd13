import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Caller } from '@app/access';
import type { OpenStreams } from '@app/http';
import type { Config } from '@app/kernel';
import { type ModelDescription, type Models, OutputRates, readCatalogue, type Route } from '@app/models';
import type { FastifyReply } from 'fastify';
import { OpenAiProvider } from '../../../../libs/models/src/upstream/openai-provider';
import { unmetered } from '../../../../test/fixtures/scripted-turns';
import { USAGE } from '../../../../test/fixtures/upstream-double';
import { ChatGateway } from './chat-gateway';

const model = readCatalogue(undefined, 'USD').models.get('local-chat') as ModelDescription;

it('sends the whole answers of one turn together, also those that take longer to make', async () => {
  const did: string[] = [];
  const answer = { choices: [{ message: { role: 'assistant', content: 'Hello' } }], usage: USAGE };
  const send = (_model: unknown, _operation: unknown, body: string) => ({
    started: Promise.resolve(),
    status: 200,
    whole: async () => {
      const isSlow = body.includes('slow');
      for (let step = 0; step < (isSlow ? 200 : 0); step += 1) await Promise.resolve();
      did.push(isSlow ? 'slow made' : 'quick made');
      return Buffer.from(JSON.stringify(answer));
    },
  });
  // Each stands for its whole type: the gateway asks nothing else of them.
  const breaker = { admit: () => true, succeeded: () => undefined };
  const upstream = { send, breaker: () => breaker, description: { timeoutMs: 1_000, forward: [] } };
  const provider = new OpenAiProvider(new Map([[model.key, [{ model, upstream } as unknown as Route]]]));
  const models = { provider: () => provider, rates: new OutputRates() } as unknown as Models;
  const gateway = new ChatGateway(models, unmetered, {} as Config, {} as OpenStreams);
  const ask = (content: string): Promise<void> => {
    const raw = Object.assign(new EventEmitter(), {
      writeHead: () => ({ end: () => void did.push(`${content} sent`) }),
    });
    // Of a reply only what writes to its connection.
    const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) } as unknown as FastifyReply;
    const body = { messages: [{ role: 'user', content }] };
    return gateway.answer({ userId: 'u' } as Caller, model, body, reply);
  };
  await turn();
  await Promise.all(['quick', 'slow'].map(ask));
  expect(did).toEqual(['quick made', 'slow made', 'quick sent', 'slow sent']);
});
