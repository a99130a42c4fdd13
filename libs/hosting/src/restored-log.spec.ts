import { operatorActionEvents, operatorActions } from '@app/auditing';
import { type CommandMeta, Decisions, EventCatalogue, EventCodec, type Keyring, TimeOrderedIds } from '@app/kernel';
import type { EventLog } from '@app/event-log';
import { withRestoredServer } from '../../../test/fixtures/restored-server';
import { until } from '../../../test/fixtures/until';
import { CatalogueReloads } from './catalogue-reloads';

const noKeys: Keyring = { ensureKey: async () => Buffer.alloc(32), keys: async () => new Map() };
const ids = new TimeOrderedIds();

const ask = async (log: EventLog, times: number): Promise<void> => {
  const decisions = new Decisions(log, new EventCodec(new EventCatalogue(operatorActionEvents), noKeys));
  for (let time = 0; time < times; time += 1) {
    const meta: CommandMeta = {
      commandId: ids.next(),
      correlationId: ids.next(),
      actor: 'user:operator',
      now: new Date(0),
    };
    const reload = { type: 'ModelCatalogueReloadRequested', data: {} } as const;
    await decisions.transact(operatorActions, 'models', reload, meta);
  }
};

it('a process whose log is restored under it bills by the prices that others were told of meanwhile, and of next', () =>
  withRestoredServer(async ({ log, save, restore }) => {
    await ask(log, 1);
    const reload = jest.fn();
    const reloads = new CatalogueReloads({
      log,
      models: { reload },
      after: await log.head(),
      logger: { warn: jest.fn() },
    });
    reloads.start();
    save();
    await ask(log, 5);
    await until(() => reload.mock.calls.length > 0, 'what is lost');
    const before = reload.mock.calls.length;
    await restore((other) => ask(other, 1));
    // Any request of the process finds it.
    await log.head();
    await until(() => reload.mock.calls.length > before, 'what was asked meanwhile');
    const meanwhile = reload.mock.calls.length;
    await ask(log, 1);
    await until(() => reload.mock.calls.length > meanwhile, 'what is asked next');
    await reloads.stop();
  }));
