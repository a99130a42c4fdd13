import { AuditingModule } from '@app/auditing';
import { Module } from '@nestjs/common';
import { AuditEventsController } from './audit-events.controller';
import { AuditForeignController } from './audit-foreign.controller';
import { AuditObjectsController } from './audit-objects.controller';
import { AuditSealsController } from './audit-seals.controller';
import { ContentRegister } from './content-register';
import { EventShower } from './event-shower';
import { IndexWaiter } from './index-waiter';

/** What auditors read. */
@Module({
  imports: [AuditingModule],
  controllers: [AuditEventsController, AuditObjectsController, AuditForeignController, AuditSealsController],
  providers: [ContentRegister, EventShower, IndexWaiter],
})
export class AuditApiModule {}
