import { Access, Authenticator } from '@app/access';
import { CLOCK, type Clock, CONFIG, type Config, IDS, type Ids, productVersion } from '@app/kernel';
import { Metrics } from '@app/telemetry';
import type { DynamicModule, NestApplicationOptions, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { AccessGuard } from './access-guard';
import { BodyGuard } from './body-guard';
import { declareDocs, serveDocs } from './openapi/serve-docs';
import { installEdge, makeAdapter } from './edge';
import type { EdgeServices } from './edge-services';
import { Idempotency } from './idempotency';
import { Lists } from './lists';
import { nestLogger } from './logging';
import { OpenRequests } from './open-requests';
import { Overload } from './overload';
import { RateLimiter } from './rate-limiter';
import { ProblemFilter } from './problem-filter';
import { RouteTable } from './route-table';
import { TransientRequests } from './transient-requests';
import { VIEW_WAITER, type ViewWaiter } from './view-waiter';

/** An application behind the edge, its routes registered, not listening yet. */
export interface ServedApplication {
  readonly app: NestFastifyApplication;
  readonly routes: RouteTable;
  readonly requests: OpenRequests;
}

/** Makes the application of a module on an adapter: `NestFactory`, and the testing module in tests. */
export type CreateApplication = (
  module: Type | DynamicModule,
  adapter: FastifyAdapter,
  options: NestApplicationOptions,
) => Promise<NestFastifyApplication>;

const createApplication: CreateApplication = (module, adapter, options) =>
  NestFactory.create<NestFastifyApplication>(module, adapter, options);

/** Builds a module's application. The module provides what `EdgeServices` names; `lateMs` is of `Overload`. */
export const serve = async (
  module: Type | DynamicModule,
  logger: Logger,
  create: CreateApplication = createApplication,
  lateMs?: number,
): Promise<ServedApplication> => {
  const adapter = makeAdapter();
  const fastify = adapter.getInstance();
  declareDocs(fastify);
  const routes = new RouteTable(fastify);
  const app = await create(module, adapter, { bodyParser: false, abortOnError: false, logger: nestLogger(logger) });
  const requests = new OpenRequests(fastify.server, new Overload(fastify.server, lateMs));
  fastify.addHook('onClose', async () => requests.stop());
  const edge = edgeServices(app, requests);
  fastify.addHook('onClose', () => edge.transients.close());
  installEdge(fastify, edge, logger);
  if (edge.config.ROLES.includes('api')) serveDocs(app, productVersion);
  app.useGlobalGuards(new AccessGuard(edge), new BodyGuard(edge));
  app.useGlobalFilters(new ProblemFilter(routes, logger));
  await app.init();
  await fastify.ready();
  return { app, routes, requests };
};

const edgeServices = (app: NestFastifyApplication, requests: OpenRequests): EdgeServices => ({
  config: app.get<Config>(CONFIG),
  clock: app.get<Clock>(CLOCK),
  ids: app.get<Ids>(IDS),
  authenticator: app.get(Authenticator),
  access: app.get(Access),
  limiter: app.get(RateLimiter),
  idempotency: app.get(Idempotency),
  lists: app.get(Lists),
  views: app.get<ViewWaiter>(VIEW_WAITER),
  metrics: app.get(Metrics),
  transients: app.get(TransientRequests),
  requests,
});
