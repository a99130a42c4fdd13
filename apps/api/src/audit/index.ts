import { AuditLog, SealFinder } from '@app/auditing';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import { READ_STORE, type ReadStore } from '@app/read-store';
import type { Provider, Type } from '@nestjs/common';
import { AuditEventsController } from './audit-events.controller';
import { AuditObjectsController } from './audit-objects.controller';
import { AuditSealsController } from './audit-seals.controller';
import { ContentRegister } from './content-register';
import { EventShower } from './event-shower';

export { SEAL_KEY } from './audit-seals.controller';

export const auditControllers: readonly Type[] = [AuditEventsController, AuditObjectsController, AuditSealsController];

export const auditProviders: readonly Provider[] = [
  { provide: AuditLog, useFactory: (log: EventLog, views: ReadStore) => new AuditLog(log, views), inject: [EVENT_LOG, READ_STORE] },
  { provide: SealFinder, useFactory: (log: EventLog, views: ReadStore) => new SealFinder(log, views), inject: [EVENT_LOG, READ_STORE] },
  ContentRegister,
  EventShower,
];
