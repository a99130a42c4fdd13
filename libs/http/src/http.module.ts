import { AccessModule } from '@app/access';
import { COORDINATION_STORE, type CoordinationStore, Processes } from '@app/coordination';
import {
  type Clock,
  CLOCK,
  CONFIG,
  type Config,
  type Ids,
  IDS,
  InstanceSecret,
  type Keyring,
  LOGGER,
} from '@app/kernel';
import { Projecting } from '@app/projecting';
import { VAULT } from '@app/vault';
import { Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { Idempotency } from './idempotency';
import { Lists } from './lists';
import { RateLimiter } from './rate-limiter';
import { TransientRequests } from './transient-requests';
import { VIEW_WAITER } from './view-waiter';

/** Provides, everywhere, what requests have in common: pages of lists, limits of their rate, keys that make a write happen once, and waits for views. */
@Global()
@Module({
  imports: [AccessModule],
  providers: [
    { provide: VIEW_WAITER, useExisting: Projecting },
    { provide: Lists, inject: [InstanceSecret], useFactory: (secret: InstanceSecret) => new Lists(secret) },
    {
      provide: TransientRequests,
      inject: [InstanceSecret],
      useFactory: (secret: InstanceSecret) => new TransientRequests(secret),
    },
    {
      provide: RateLimiter,
      inject: [CLOCK, CONFIG, COORDINATION_STORE, Processes],
      useFactory: (clock: Clock, config: Config, store: CoordinationStore, processes: Processes) =>
        new RateLimiter(clock, config.RATE_LIMIT_PER_MINUTE, processes.alone ? undefined : store),
    },
    {
      provide: Idempotency,
      inject: [COORDINATION_STORE, VAULT, InstanceSecret, CLOCK, IDS, Processes, LOGGER],
      useFactory: (
        store: CoordinationStore,
        keyring: Keyring,
        secret: InstanceSecret,
        clock: Clock,
        ids: Ids,
        processes: Processes,
        logger: Logger,
      ) => new Idempotency(store, keyring, secret, clock, ids, processes, logger),
    },
  ],
  exports: [VIEW_WAITER, Lists, RateLimiter, Idempotency, TransientRequests],
})
export class HttpModule {}
