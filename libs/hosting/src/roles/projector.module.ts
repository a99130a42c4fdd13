import { AuditingModule } from '@app/auditing';
import { ErasureModule } from '@app/erasure';
import { Module } from '@nestjs/common';
import { Projector } from './projector';

/** What a process of the role `projector` runs. */
@Module({ imports: [AuditingModule, ErasureModule], providers: [Projector], exports: [Projector] })
export class ProjectorModule {}
