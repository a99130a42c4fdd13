import { EventEmitter } from 'node:events';
import type { Caller } from '@app/access';
import { type ModelDescription, type Models, OutputRates } from '@app/models';
import { LocalProvider } from '../../../../libs/models/src/local/local-provider';
import type { CallToMeter, Metering, Settlement } from '@app/spending';
import type { FastifyReply } from 'fastify';
import { RerankGateway } from './rerank-gateway';

const model = { key: 'local-rerank' } as ModelDescription;
/** Nothing but what a local reranking asks of models, the ledger and the connection. */
const provider = new LocalProvider('no folder');
const models = { provider: () => provider, rates: new OutputRates() } as unknown as Models;

/** Ranks with the local reranker for a client at `raw`. */
const rank = async (body: object, raw = new EventEmitter()) => {
  const settled: Settlement[] = [];
  const begun: CallToMeter[] = [];
  const begin = async (call: CallToMeter) => {
    begun.push(call);
    return { settle: (settlement: Settlement) => void settled.push(settlement) };
  };
  // A call that is let through is settled, and nothing else.
  const metering = { begin } as unknown as Metering;
  const answer = await new RerankGateway(models, metering)
    .answer({ userId: 'u' } as Caller, model, { ...body }, { raw } as FastifyReply)
    .catch((error: unknown) => error);
  return { answer, settled, begun };
};

describe('the local reranker', () => {
  afterEach(() => jest.restoreAllMocks());

  it('ranks, counts the query for each document, and forgets its client', async () => {
    const raw = new EventEmitter();
    const { answer, settled } = await rank({ query: 'keys', documents: ['Vaults', 'A key'] }, raw);
    expect(answer).toMatchObject({
      data: [
        { index: 1, relevance_score: 1 },
        { index: 0, relevance_score: 0 },
      ],
      usage: { prompt_tokens: 6 },
    });
    expect([settled.map(({ outcome }) => outcome), raw.listenerCount('close')]).toEqual([['ok'], 0]);
  });

  it('stops when its client leaves', async () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 10));
    const raw = new EventEmitter();
    setImmediate(() => raw.emit('close'));
    const { answer, settled } = await rank(
      { query: 'keys', documents: Array.from({ length: 1_000 }, () => 'keys') },
      raw,
    );
    expect([(answer as { status?: number }).status, settled.map(({ outcome }) => outcome), now < 1_000]).toEqual([
      499,
      ['aborted'],
      true,
    ]);
  });

  it('holds no more than can be billed, however long the query and however many the documents', async () => {
    const { begun, settled } = await rank({
      query: 'x'.repeat(1_000_000),
      documents: Array.from({ length: 1_000 }, () => ''),
    });
    expect(begun.map(({ mostInput }) => mostInput)).toEqual(settled.map(({ usage }) => usage.inputTokens));
  });

  it('measures the query once, however many documents there are', async () => {
    const measured = jest.spyOn(Buffer, 'byteLength');
    const query = 'keys and vaults';
    await rank({ query, documents: Array.from({ length: 100 }, () => 'keys') });
    expect(measured.mock.calls.filter(([text]) => text === query).length).toBe(2);
  });
});
