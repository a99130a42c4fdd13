import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decisions, EventCatalogue, EventCodec, type Keyring, TimeOrderedIds } from '@app/kernel';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { readCatalogue } from './catalogue';
import { modelDecider } from './model.decider';
import { modelEvents } from './model.events';
import { recordCatalogue } from './record-catalogue';

const folder = mkdtempSync(join(tmpdir(), 'record-'));
afterAll(() => rmSync(folder, { recursive: true }));

const noKeys: Keyring = { ensureKey: async () => Buffer.alloc(32), keys: async () => new Map() };
const ids = new TimeOrderedIds();
const meta = () => ({ commandId: ids.next(), correlationId: ids.next(), actor: 'system:models', now: new Date(0) });
const catalogueWith = (...models: object[]) => {
  const file = join(folder, 'models.json');
  writeFileSync(
    file,
    JSON.stringify({
      providers: { acme: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' } },
      models: models.map((model) => ({ provider: 'acme', kind: 'chat', ...model })),
    }),
  );
  return readCatalogue(file, 'USD');
};
const price = (input: string) => ({ pricing: { currency: 'USD', input, output: '2' } });

test('prices and models have a history, and what did not change is not written again', async () => {
  const log = new MemoryLog();
  const decisions = new Decisions(log, new EventCodec(new EventCatalogue(modelEvents), noKeys));
  const record = async (...models: object[]) => {
    const before = log.events.length;
    await recordCatalogue(decisions, catalogueWith(...models), meta());
    return log.events.slice(before).map(({ type, stream }) => `${type} ${stream}`);
  };
  const local = ['local-chat', 'local-embedding', 'local-reranker'].map((key) => `ModelOffered model-${key}`);
  expect(await record({ key: 'org/a', ...price('1') })).toEqual([
    ...local,
    'ModelOffered model-org/a',
    'ModelsListed modelList-catalogue',
  ]);
  const { state: first } = await decisions.load(modelDecider, 'org/a');
  expect(await record({ key: 'org/a', ...price('1') })).toEqual([]);
  expect(await record({ key: 'org/a', ...price('2') })).toEqual(['ModelOffered model-org/a']);
  const { state: second } = await decisions.load(modelDecider, 'org/a');
  expect([first?.pricing, second?.pricing]).toEqual([
    expect.objectContaining({ input: '1' }),
    expect.objectContaining({ input: '2' }),
  ]);
  expect(second?.priceVersion).not.toBe(first?.priceVersion);
  expect(await record()).toEqual(['ModelWithdrawn model-org/a', 'ModelsListed modelList-catalogue']);
  expect(await record({ key: 'org/a', ...price('1') })).toEqual([
    'ModelOffered model-org/a',
    'ModelsListed modelList-catalogue',
  ]);
  expect((await decisions.load(modelDecider, 'org/a')).state).toEqual(first);
});
