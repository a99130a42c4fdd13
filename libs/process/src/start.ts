import type { Server } from 'node:http';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import { Lifecycle, type ProcessOptions, Projector, Worker } from '@app/hosting';
import { type CreateApplication, Idempotency, OpenRequests, reached, RouteTable, serve } from '@app/http';
import {
  assertFolder,
  type Config,
  type Environment,
  InvalidConfig,
  isUnavailable,
  mayShare,
  productVersion,
  Resources,
  settlesWithin,
} from '@app/kernel';
import { Projecting } from '@app/projecting';
import { startTracing } from '@app/telemetry';
import type { DynamicModule } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { Health } from './monitoring/health';

/** How long requests that run may take to end after a stop was asked for. */
const DRAIN_MS = 30_000;
/** A collector that is away or slow holds no restart up. */
const LAST_TRACES_MS = 2_000;
const SWEEP_MS = 60 * 60_000;

/** An application that runs as a process: one of `apps/`. */
export interface Program {
  /** Its folder, for sentences. */
  readonly name: string;
  /** The roles that it can run. */
  readonly roles: Config['ROLES'];
  readonly module: { forRoot(options: ProcessOptions): DynamicModule };
  /** Done before the first request. `madeKey` is told the secret of the bootstrap key, only by the start that makes it. */
  readonly prepare?: (app: NestFastifyApplication, config: Config, madeKey: (secret: string) => void) => Promise<void>;
}

/** A running platform. */
export interface Platform {
  readonly app: NestFastifyApplication;
  readonly routes: RouteTable;
  /** Not ready from now on; resolves when the requests that run have ended (30 s at most), and all is written and closed. */
  stop(): Promise<void>;
}

/** What a start tells its process. */
interface Starting {
  /** Takes the port, before anything is made that is told once. Requests are rejected as `unavailable` until the start is over. */
  readonly listen?: (app: NestFastifyApplication) => Promise<void>;
  /** Told the secret of the bootstrap key as soon as it stands, only by the start that makes it. */
  readonly madeKey?: (secret: string) => void;
  readonly createApplication?: CreateApplication;
}

/** Starts what `ROLES` names. Throws what stands in the way; the process is to end then. */
export const startProgram = async (
  program: Program,
  config: Config,
  environment: Environment,
  logger: Logger,
  { listen, madeKey = () => undefined, createApplication }: Starting = {},
): Promise<Platform> => {
  assertRoles(program, config);
  const tracing = await startTracing(config.OTEL_EXPORTER_OTLP_ENDPOINT, config.OTEL_SERVICE_NAME);
  if (!mayShare(config)) assertFolder('DATA_DIR', config.DATA_DIR);
  const resources = new Resources();
  const module = program.module.forRoot({ config, environment, logger, resources, version: productVersion });
  const app = await serve(module, logger, createApplication).catch(async (error: unknown) => {
    await resources.close();
    throw error;
  });
  const requests = app.get(OpenRequests);
  requests.hold();
  await listen?.(app);
  await program.prepare?.(app, config, madeKey);
  const lifecycle = app.get(Lifecycle, { strict: false });
  await lifecycle.start({
    projector: config.ROLES.includes('projector') ? app.get(Projector, { strict: false }) : undefined,
    worker: config.ROLES.includes('worker') ? app.get(Worker, { strict: false }) : undefined,
  });
  if (config.ROLES.includes('api')) await showLog(app);
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
    const sent = tracing.stop().catch((error: unknown) => logger.warn({ error }, 'Sending the last traces failed.'));
    if (!(await settlesWithin(LAST_TRACES_MS, sent))) logger.warn({}, 'Sending the last traces took too long.');
  };
  return { app, routes: app.get(RouteTable), stop };
};

/**
 * Waits, like a write for its views, until they show what was there before the first request: the first admin finds their
 * user, and a key that an operator made in the stores is listed. What takes longer is served as late.
 */
const showLog = async (app: NestFastifyApplication): Promise<void> => {
  const views = app.get(Projecting);
  try {
    const head = await app.get<EventLog>(EVENT_LOG).head();
    if (head !== null) await reached(views, views.names(), head);
  } catch (error) {
    // It serves without a store, too, and says so in /health.
    if (!isUnavailable(error)) throw error;
  }
};

const assertRoles = ({ name, roles }: Program, { ROLES }: Config): void => {
  const other = ROLES.find((role) => !roles.includes(role));
  if (other !== undefined)
    throw new InvalidConfig(
      `ROLES names ${other}, which ${name} does not run. Leave ROLES out, or start apps/api, which runs every role.`,
    );
};
