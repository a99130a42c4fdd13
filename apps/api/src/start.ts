import type { Server } from 'node:http';
import { bootstrap, CreateUserHandler } from '@app/identity';
import type { Config } from '@app/kernel';
import { recordCatalogue } from '@app/models';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { projectorRole } from '../../projector/src/projector';
import { workerRole } from '../../worker/src/worker';
import { AppModule } from './app.module';
import type { Environment } from './environment';
import { type Host, openHost } from './host';
import { Idempotency } from './http/idempotency';
import type { RouteTable } from './http/route-table';
import { serve } from './http/serve';
import { Health } from './monitoring/health';
import { measurePlatform } from './monitoring/platform-metrics';

/** How long requests that run may take to end after a stop was asked for. */
const DRAIN_MS = 30_000;
/** How long answers that nobody waits for any more may take to end. */
const ANSWER_GRACE_MS = 5_000;
/** How long providers may take to say what answers used whose clients left, and the log to take it. */
const SETTLE_GRACE_MS = 8_000;
const SWEEP_MS = 60 * 60_000;

/** A running platform. */
export interface Platform {
  readonly host: Host;
  readonly app: NestFastifyApplication;
  readonly routes: RouteTable;
  /** Not ready from now on; resolves when the requests that run have ended (30 s at most), and all is written and closed. */
  stop(): Promise<void>;
}

/** What a start tells its process. */
export interface Starting {
  /** Takes the port, before anything is made that is told once. Requests are refused as `unavailable` until the start is over. */
  readonly listen?: (app: NestFastifyApplication) => Promise<void>;
  /** Told the secret of the bootstrap key as soon as it stands, only by the start that makes it. */
  readonly madeKey?: (secret: string) => void;
}

/** Starts what `ROLES` names. Throws what stands in the way; the process is to end then. */
export const startPlatform = async (
  config: Config,
  environment: Environment,
  logger: Logger,
  { listen, madeKey }: Starting = {},
): Promise<Platform> => {
  const host = await openHost(config, environment, logger);
  const { conversations, spending, stores, metrics, tracing, models } = host;
  const { app, routes, requests } = await serve(AppModule.of(host), logger);
  requests.hold();
  await listen?.(app);
  if (config.ROLES.includes('api')) {
    const { madeSecret } = await bootstrap(
      { ...host, decisions: stores.decisions, createUser: app.get(CreateUserHandler) },
      config.BOOTSTRAP_API_KEY,
    );
    if (madeSecret !== undefined) madeKey?.(madeSecret);
    await recordModels(host);
  }
  const projector = config.ROLES.includes('projector') ? projectorRole(host) : undefined;
  const worker = config.ROLES.includes('worker') ? workerRole(host) : undefined;
  await host.leases.processes.start();
  host.catalogueReloads?.start();
  await projector?.start();
  await worker?.start();
  measurePlatform(metrics, host);
  const sweep = setInterval(
    () =>
      void app
        .get(Idempotency)
        .sweep()
        .catch((error: unknown) => logger.warn({ error }, 'Removing old idempotency keys failed.')),
    SWEEP_MS,
  ).unref();
  const health = app.get(Health);
  requests.begin();
  health.enter('ready');

  const stop = async (): Promise<void> => {
    health.enter('draining');
    clearInterval(sweep);
    await requests.drain(DRAIN_MS);
    await conversations.turns.close(ANSWER_GRACE_MS);
    await worker?.stop();
    // Calls whose clients are still there end here: those are settled, too.
    (app.getHttpServer() as Server).closeAllConnections();
    const unsettled = await spending.ledger.close(SETTLE_GRACE_MS);
    if (unsettled > 0)
      logger.warn({ unsettled }, 'Some model calls were not settled in time. They may be missing from usage.');
    await app.close();
    await projector?.stop();
    await host.relay?.close();
    await host.leases.processes.stop();
    await host.catalogueReloads?.stop();
    await models.close();
    await stores.close();
    await tracing.stop().catch((error: unknown) => logger.warn({ error }, 'Sending the last traces failed.'));
  };
  return { host, app, routes, stop };
};

const recordModels = async ({ stores, models, ids, clock }: Host): Promise<void> => {
  const commandId = ids.next();
  await recordCatalogue(stores.decisions, models.catalogue, {
    commandId,
    correlationId: commandId,
    actor: 'system:models',
    now: clock.now(),
  });
};
