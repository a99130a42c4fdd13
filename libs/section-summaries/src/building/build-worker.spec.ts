import { Claims } from '@app/coordination';
import { Decisions, EventCatalogue, EventCodec, TimeOrderedIds, Unavailable } from '@app/kernel';
import { OutputRates } from '@app/models';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { unmetered } from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import { BuildWorker } from './build-worker';
import { ProgressBoard } from './progress';

const AGENT = 'agent';
const noModel = (): never => {
  throw new Error('no model is called');
};

it.each([new Unavailable('coordination', 'no answer', 'unknown'), new Error('broken')])(
  'gives the claim of a build back whose progress cannot be removed: %s',
  async (failure) => {
    const store = new MemoryCoordinationStore();
    const write = store.write.bind(store);
    let failed = 0;
    store.write = async (key, ...given) => {
      if (!key.startsWith('summary-progress/')) return write(key, ...given);
      failed += 1;
      throw failure;
    };
    const [clock, ids] = [new FixedClock(), new TimeOrderedIds()];
    const keyring = { ensureKey: async () => Buffer.alloc(32), keys: async () => new Map<string, Buffer>() };
    const worker = new BuildWorker({
      decisions: new Decisions(new MemoryLog(), new EventCodec(new EventCatalogue([]), keyring)),
      blobs: { put: noModel, get: noModel, remove: noModel },
      models: { rates: new OutputRates(), chat: noModel, embedding: noModel },
      metering: unmetered,
      sources: { of: async () => [], ready: async () => new Map() },
      running: async () => [AGENT],
      ids,
      clock,
      logger: { warn: () => undefined },
      claims: new Claims(store, clock, 'here', 60_000, console),
      progress: new ProgressBoard(store),
    });
    worker.offer(AGENT);
    await until(() => failed > 0);
    await worker.stop();
    expect(await store.read(`claim/summary-index/${AGENT}`)).toBeUndefined();
  },
);
