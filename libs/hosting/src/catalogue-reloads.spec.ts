import { operatorActionEvents, operatorActions } from '@app/auditing';
import { type CommandMeta, Decisions, EventCatalogue, EventCodec, type Keyring, TimeOrderedIds } from '@app/kernel';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { until } from '../../../test/fixtures/until';
import { CatalogueReloads } from './catalogue-reloads';

const noKeys: Keyring = { ensureKey: async () => Buffer.alloc(32), keys: async () => new Map() };
const ids = new TimeOrderedIds();

const setUp = () => {
  const log = new MemoryLog();
  const decisions = new Decisions(log, new EventCodec(new EventCatalogue(operatorActionEvents), noKeys));
  const ask = async (name: string, action: Parameters<typeof operatorActions.decide>[0]): Promise<void> => {
    const meta: CommandMeta = {
      commandId: ids.next(),
      correlationId: ids.next(),
      actor: 'user:operator',
      now: new Date(0),
    };
    await decisions.transact(operatorActions, name, action, meta);
  };
  const reload = jest.fn();
  const warn = jest.fn();
  const process = async () =>
    new CatalogueReloads({ log, models: { reload }, after: await log.head(), logger: { warn } });
  return {
    reload,
    warn,
    process,
    askForReload: () => ask('models', { type: 'ModelCatalogueReloadRequested', data: {} }),
    askForOther: () => ask('blobs', { type: 'BlobSweepRequested', data: {} }),
  };
};

describe('a process that is not the one an operator asks', () => {
  it('reads the model catalogue again when that one does, and for nothing else', async () => {
    const { reload, process, askForReload, askForOther } = setUp();
    await askForReload();
    const reloads = await process();
    // Between the start's reading and the first look at the log.
    await askForReload();
    reloads.start();
    await until(() => reload.mock.calls.length === 1, 'the first');
    await askForOther();
    await askForReload();
    await until(() => reload.mock.calls.length === 2, 'the second');
    await reloads.stop();
    await askForReload();
    expect(reload).toHaveBeenCalledTimes(2);
  });

  it('goes on with what it has where its own file is wrong, says so, and reads it again later', async () => {
    const { reload, warn, process, askForReload } = setUp();
    reload.mockImplementationOnce(() => {
      throw new Error('MODELS_FILE is wrong');
    });
    const reloads = await process();
    reloads.start();
    await askForReload();
    await until(() => warn.mock.calls.length === 1, 'the warning');
    await askForReload();
    await until(() => reload.mock.calls.length === 2, 'the next');
    await reloads.stop();
  });
});
