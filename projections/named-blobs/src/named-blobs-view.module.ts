import type { DeclaredProjection } from '@app/projecting';
import { Module } from '@nestjs/common';
import { namedBlobs } from './named-blobs.projection';

/** The view `named-blobs`. */
@Module({})
export class NamedBlobsViewModule {
  static readonly projections: readonly DeclaredProjection[] = [(aggregates) => namedBlobs(aggregates.blobEvents())];
}
