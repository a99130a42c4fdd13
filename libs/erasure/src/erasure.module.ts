import { BLOBS, type Blobs } from '@app/blobs';
import { EVENT_LOG } from '@app/event-log';
import {
  Aggregates,
  type Clock,
  CLOCK,
  Decisions,
  Grouped,
  IDS,
  LOGGER,
  provideWith,
  type StreamReader,
} from '@app/kernel';
import { Policies, type Policy, Projecting } from '@app/projecting';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { SEARCH_INDEX, type SearchIndex } from '@app/search-index';
import { type Vault, VAULT } from '@app/vault';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { erasureAggregate } from './erasure.aggregate';
import { blobsUnder } from './blobs-under';
import { destroyKeys } from './destroy-keys.policy';
import { destroyOnce } from './destroy-once';
import { eraseContent } from './erase-content.policy';
import { forgetKeys } from './forget-erased';
import { heldBack, viewsReached } from './views-reached';
import { ReapplyErasures, type ReapplyErasuresParts, noteReceipt } from './reapply-erasures-after-restore';

const ERASURE_POLICIES = Symbol('ErasurePolicies');

interface ErasureParts {
  readonly log: StreamReader;
  readonly vault: Vault;
  readonly blobs: Blobs;
  readonly decisions: Decisions;
  readonly readStore: ReadStore;
  readonly searchIndex: SearchIndex;
  readonly aggregates: Aggregates;
  readonly projecting: Projecting;
  readonly clock: Clock;
  readonly logger: { warn(facts: object, message: string): void };
}

/** Erases what was deleted from every store of the platform. */
const erasure = ({
  log,
  projecting,
  logger,
  readStore,
  searchIndex,
  vault,
  ...parts
}: ErasureParts): readonly Policy[] => {
  const { decisions, aggregates } = parts;
  /** The last of those that come together stands for all. */
  const noted = new Grouped<string, void>(async (receipts) => {
    await noteReceipt(readStore, receipts.at(-1) ?? '');
    return receipts.map(() => undefined);
  });
  // What a build under way has read before a deletion that it then met: its rows are removed, and so must their traces be.
  projecting.events.on('rebuild', ({ view, state }) => {
    if (state !== 'ready') return;
    Promise.all([readStore.purge(), searchIndex.purge()]).catch((error: unknown) =>
      logger.warn({ view, error }, 'Purging the stores after a rebuild failed. The next erasure will purge them.'),
    );
  });
  const all = {
    ...parts,
    destroy: destroyOnce(vault),
    blobsOf: blobsUnder(log, aggregates),
    viewsReached: viewsReached(projecting),
    heldBack: heldBack(projecting),
    stores: [
      { name: 'views', purge: () => readStore.purge() },
      { name: 'search', purge: () => searchIndex.purge() },
    ],
    onReceipt: (stream: string) => noted.join(stream),
    memories: [
      {
        name: 'decisions',
        forget: (keys: readonly string[]) => forgetKeys(decisions, keys),
      },
    ],
  };
  return [destroyKeys(all), eraseContent(all)];
};

/** Erases what was deleted, and deletes again what a restored log brings back. */
@Module({
  providers: [
    provideWith(ERASURE_POLICIES, erasure, {
      log: EVENT_LOG,
      vault: VAULT,
      blobs: BLOBS,
      decisions: Decisions,
      readStore: READ_STORE,
      searchIndex: SEARCH_INDEX,
      aggregates: Aggregates,
      projecting: Projecting,
      clock: CLOCK,
      logger: LOGGER,
    }),
    provideWith(ReapplyErasures, (parts: ReapplyErasuresParts) => new ReapplyErasures(parts), {
      decisions: Decisions,
      log: EVENT_LOG,
      vault: VAULT,
      readStore: READ_STORE,
      aggregates: Aggregates,
      ids: IDS,
      clock: CLOCK,
      logger: LOGGER,
    }),
  ],
  exports: [ReapplyErasures],
})
export class ErasureModule implements OnModuleInit {
  static readonly aggregates = [erasureAggregate];

  constructor(
    @Inject(ERASURE_POLICIES) private readonly erasure: readonly Policy[],
    private readonly policies: Policies,
  ) {}

  onModuleInit(): void {
    this.erasure.forEach((policy) => this.policies.add(policy));
  }
}
