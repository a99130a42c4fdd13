import { AccessModule } from '@app/access';
import { COORDINATION_STORE, type CoordinationStore, Processes } from '@app/coordination';
import { type Clock, CLOCK, CONFIG, type Config } from '@app/kernel';
import { Projecting } from '@app/projecting';
import { Global, Module, type NestModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { AccessGuard } from './access-guard';
import { Admission } from './admission';
import { BodyGuard } from './body-guard';
import { CommandMetas } from './command-context';
import { Edge } from './edge';
import { Idempotency } from './idempotency';
import { Lists } from './lists';
import { OpenAnswers } from './open-answers';
import { OpenRequests } from './open-requests';
import { OpenStreams } from './open-streams';
import { LATE_MS, Overload, USUAL_LATE_MS } from './overload';
import { ProblemFilter } from './problem-filter';
import { RateLimiter } from './rate-limiter';
import { RouteTable } from './route-table';
import { SlowBodies } from './slow-bodies';
import { UnreadAnswers } from './slow-readers';
import { TransientRequests } from './transient-requests';
import { Uploads } from './uploads';
import { VIEW_WAITER } from './view-waiter';
import { Writes } from './written';

/**
 * What requests have in common: the guards and the exception filter of every route, and, everywhere, pages of lists, limits of their rate, keys that
 * make a write happen once, and waits for views. Its application is made on the adapter of `serve`.
 */
@Global()
@Module({
  imports: [AccessModule],
  providers: [
    // By their classes, so that a testing module can put others in their place. Guards run in this order: nothing of a body is read before access is checked.
    AccessGuard,
    BodyGuard,
    ProblemFilter,
    { provide: APP_GUARD, useExisting: AccessGuard },
    { provide: APP_GUARD, useExisting: BodyGuard },
    { provide: APP_FILTER, useExisting: ProblemFilter },
    Admission,
    CommandMetas,
    Edge,
    OpenAnswers,
    OpenRequests,
    OpenStreams,
    UnreadAnswers,
    SlowBodies,
    { provide: LATE_MS, useValue: USUAL_LATE_MS },
    Overload,
    RouteTable,
    Uploads,
    Writes,
    { provide: VIEW_WAITER, useExisting: Projecting },
    Lists,
    TransientRequests,
    {
      provide: RateLimiter,
      inject: [CLOCK, CONFIG, COORDINATION_STORE, Processes],
      useFactory: (clock: Clock, config: Config, store: CoordinationStore, processes: Processes) =>
        new RateLimiter(clock, config.RATE_LIMIT_PER_MINUTE, processes.alone ? undefined : store),
    },
    Idempotency,
  ],
  exports: [
    VIEW_WAITER,
    CommandMetas,
    Idempotency,
    Lists,
    OpenRequests,
    OpenStreams,
    RateLimiter,
    RouteTable,
    SlowBodies,
    TransientRequests,
    Uploads,
    Writes,
  ],
})
export class HttpModule implements NestModule {
  constructor(private readonly edge: Edge) {}

  /** Nest asks for what stands in front of routes before it registers them. */
  configure(): void {
    this.edge.install();
  }
}
