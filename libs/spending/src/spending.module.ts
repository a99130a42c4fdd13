import { Processes } from '@app/coordination';
import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  CONFIG,
  type Config,
  deriveId,
  eachOfAll,
  EventCodec,
  IDS,
  LOGGER,
  provideWith,
} from '@app/kernel';
import { UnfinishedWork } from '@app/projecting';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { spendingAggregates } from './spending.aggregates';
import { Ledger } from './ledger';
import { LIMIT_WINDOWS, LimitWindows } from './limit-windows';
import { CreateLimitHandler } from './limits/commands/create-limit';
import { DeleteLimitHandler } from './limits/commands/delete-limit';
import { UpdateLimitHandler } from './limits/commands/update-limit';
import { Limits } from './limits/limits';
import { OPEN_RESTATEMENTS, type OpenRestatements, RECORDED_SPENDING, type RecordedSpending } from './lookups';
import { METERING } from './metering';
import { Restatements } from './restatement/restatements';
import type { SettlementsParts } from './settlements';

/**
 * After this time, others consider a restatement abandoned. Both may continue it, because each page is entered once.
 */
const ABANDONED_MS = 60_000;

type LedgerParts = Omit<SettlementsParts, keyof RecordedSpending | 'currency'> & {
  readonly records: RecordedSpending;
  readonly config: Config;
};

/**
 * Counts model calls and enforces their limits. Views provide `RECORDED_SPENDING`, `CALLS_BEHIND` and
 * `OPEN_RESTATEMENTS`.
 */
@Module({
  providers: [
    CreateLimitHandler,
    UpdateLimitHandler,
    DeleteLimitHandler,
    Limits,
    provideWith(
      Ledger,
      ({ records, config, ...parts }: LedgerParts) =>
        new Ledger({ ...parts, ...records, currency: config.DEFAULT_CURRENCY }),
      {
        log: EVENT_LOG,
        codec: EventCodec,
        processes: Processes,
        limits: Limits,
        records: RECORDED_SPENDING,
        ids: IDS,
        clock: CLOCK,
        config: CONFIG,
        logger: LOGGER,
      },
    ),
    { provide: METERING, useExisting: Ledger },
    LimitWindows,
    { provide: LIMIT_WINDOWS, useExisting: LimitWindows },
    Restatements,
  ],
  exports: [Limits, Ledger, METERING, LIMIT_WINDOWS, Restatements],
})
export class SpendingModule implements OnModuleInit {
  static readonly aggregates = spendingAggregates;

  constructor(
    private readonly restatements: Restatements,
    private readonly unfinished: UnfinishedWork,
    @Inject(OPEN_RESTATEMENTS) private readonly openRestatements: OpenRestatements,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.unfinished.add({ name: 'restatements', finish: () => this.finishRestatements() });
  }

  private async finishRestatements(): Promise<void> {
    const now = this.clock.now();
    await eachOfAll(await this.openRestatements(new Date(now.getTime() - ABANDONED_MS)), async (id) => {
      const commandId = deriveId(id, 'finish');
      await this.restatements.finish(id, { commandId, correlationId: commandId, actor: 'system:restatements', now });
    });
  }
}
