import type { Access, Authenticator } from '@app/access';
import type { Clock, Config, Ids } from '@app/kernel';
import type { Metrics } from '@app/telemetry';
import type { Idempotency } from './idempotency';
import type { Lists } from './lists';
import type { OpenRequests } from './open-requests';
import type { RateLimiter } from './rate-limiter';
import type { TransientRequests } from './transient-requests';
import type { ViewWaiter } from './view-waiter';

/** The services that the hooks and parameter decorators of the edge use; decorates the Fastify instance as `edge`. */
export interface EdgeServices {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly authenticator: Authenticator;
  readonly access: Access;
  readonly limiter: RateLimiter;
  readonly idempotency: Idempotency;
  readonly lists: Lists;
  readonly views: ViewWaiter;
  readonly metrics: Metrics;
  readonly requests: OpenRequests;
  readonly transients: TransientRequests;
}

declare module 'fastify' {
  interface FastifyInstance {
    edge: EdgeServices;
  }
}
