import { EVENT_LOG, type EventLog } from '@app/event-log';
import { LOGGER, provideWith } from '@app/kernel';
import { READ_STORE } from '@app/read-store';
import { Module } from '@nestjs/common';
import { auditingAggregates } from './auditing.aggregates';
import { AuditLog } from './audit-log';
import { FOREIGN_ACCOUNT, ForeignAccount, type ForeignAccountOptions } from './foreign-account';

type ForeignParts = ForeignAccountOptions & { readonly log: EventLog };

/** What auditors read, and the account of what other programs wrote: undefined where nobody else can write to the log. */
@Module({
  providers: [
    AuditLog,
    provideWith(
      FOREIGN_ACCOUNT,
      (parts: ForeignParts) => (parts.log.isShared === true ? new ForeignAccount(parts) : undefined),
      { log: EVENT_LOG, readStore: READ_STORE, logger: LOGGER },
    ),
  ],
  exports: [AuditLog, FOREIGN_ACCOUNT],
})
export class AuditingModule {
  static readonly aggregates = auditingAggregates;
}
