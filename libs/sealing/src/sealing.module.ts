import { EVENT_LOG, EVENT_MAC } from '@app/event-log';
import { CLOCK, EventCodec, LOGGER, provideWith } from '@app/kernel';
import { ORDINALS } from '@app/projecting';
import { Global, Module } from '@nestjs/common';
import { sealingAggregates } from './sealing.aggregates';
import { SealArchive } from './seal-archive';
import { SEAL_KEY } from './seal-key';
import { SealedOrdinals } from './sealed-ordinals';
import { Sealer, type SealerOptions } from './sealer';
import { EVENT_HASHERS } from './spawn-event-hasher';

/** Seals over the log, and the counts of its events (`ORDINALS`) that they give everywhere. */
@Global()
@Module({
  providers: [
    SealArchive,
    SealedOrdinals,
    { provide: ORDINALS, useExisting: SealedOrdinals },
    provideWith(Sealer, (parts: SealerOptions) => new Sealer(parts), {
      log: EVENT_LOG,
      codec: EventCodec,
      key: SEAL_KEY,
      mac: EVENT_MAC,
      clock: CLOCK,
      logger: LOGGER,
      hashers: EVENT_HASHERS,
    }),
  ],
  exports: [SealArchive, SealedOrdinals, ORDINALS, Sealer],
})
export class SealingModule {
  static readonly aggregates = sealingAggregates;
}
