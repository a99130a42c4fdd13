import type { Server } from 'node:http';
import { Lifecycle } from '@app/hosting';
import { bootstrap, CreateUserHandler } from '@app/identity';
import {
  CLOCK,
  type Clock,
  type Config,
  Decisions,
  assertFolder,
  type Ids,
  IDS,
  InstanceSecret,
  mayShare,
  Resources,
} from '@app/kernel';
import { Models, recordCatalogue } from '@app/models';
import { startTracing } from '@app/telemetry';
import type { INestApplicationContext } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { Projector } from '../../projector/src/projector';
import { Worker } from '../../worker/src/worker';
import { AppModule } from './app.module';
import { productVersion } from './docs/version';
import type { Environment } from './environment';
import { Idempotency } from './http/idempotency';
import type { RouteTable } from './http/route-table';
import { serve } from './http/serve';
import { Health } from './monitoring/health';

/** How long requests that run may take to end after a stop was asked for. */
const DRAIN_MS = 30_000;
const SWEEP_MS = 60 * 60_000;

/** A running platform. */
export interface Platform {
  readonly app: NestFastifyApplication;
  readonly routes: RouteTable;
  /** Not ready from now on; resolves when the requests that run have ended (30 s at most), and all is written and closed. */
  stop(): Promise<void>;
}

/** What a start tells its process. */
export interface Starting {
  /** Takes the port, before anything is made that is told once. Requests are rejected as `unavailable` until the start is over. */
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
  const tracing = await startTracing(config.OTEL_EXPORTER_OTLP_ENDPOINT, config.OTEL_SERVICE_NAME);
  if (!mayShare(config)) assertFolder('DATA_DIR', config.DATA_DIR);
  const resources = new Resources();
  const platform = AppModule.forRoot({ config, environment, logger, resources, version: productVersion });
  const { app, routes, requests } = await serve(platform, logger).catch(async (error: unknown) => {
    await resources.close();
    throw error;
  });
  requests.hold();
  await listen?.(app);
  if (config.ROLES.includes('api')) await prepare(app, config, madeKey);
  const lifecycle = app.get(Lifecycle, { strict: false });
  await lifecycle.start({
    projector: config.ROLES.includes('projector') ? app.get(Projector, { strict: false }) : undefined,
    worker: config.ROLES.includes('worker') ? app.get(Worker, { strict: false }) : undefined,
  });
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
    // Calls whose clients are still there end here: those are settled, too.
    await lifecycle.drain(() => (app.getHttpServer() as Server).closeAllConnections());
    await app.close();
    await lifecycle.close();
    await tracing.stop().catch((error: unknown) => logger.warn({ error }, 'Sending the last traces failed.'));
  };
  return { app, routes, stop };
};

/** What stands before the first request: the first admin and their key, and the models and prices of this start. */
const prepare = async (
  app: INestApplicationContext,
  { BOOTSTRAP_API_KEY }: Config,
  madeKey: Starting['madeKey'],
): Promise<void> => {
  const system = {
    decisions: app.get(Decisions),
    createUser: app.get(CreateUserHandler),
    secret: app.get(InstanceSecret),
    clock: app.get<Clock>(CLOCK),
    ids: app.get<Ids>(IDS),
  };
  const { madeSecret } = await bootstrap(system, BOOTSTRAP_API_KEY);
  if (madeSecret !== undefined) madeKey?.(madeSecret);
  const commandId = system.ids.next();
  await recordCatalogue(system.decisions, app.get(Models).catalogue, {
    commandId,
    correlationId: commandId,
    actor: 'system:models',
    now: system.clock.now(),
  });
};
