import { CONFIG, type Config, productVersion } from '@app/kernel';
import type { DynamicModule, NestApplicationOptions, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { makeAdapter } from './edge';
import { nestLogger } from './logging';
import { serveDocs } from './openapi/serve-docs';

/** Makes the application of a module on an adapter: `NestFactory`, and the testing module in tests. */
export type CreateApplication = (
  module: Type | DynamicModule,
  adapter: FastifyAdapter,
  options: NestApplicationOptions,
) => Promise<NestFastifyApplication>;

const createApplication: CreateApplication = (module, adapter, options) =>
  NestFactory.create<NestFastifyApplication>(module, adapter, options);

/** Builds the application of a module that imports `HttpModule`: its routes are registered, and it does not listen yet. */
export const serve = async (
  module: Type | DynamicModule,
  logger: Logger,
  create: CreateApplication = createApplication,
): Promise<NestFastifyApplication> => {
  const options = { bodyParser: false, abortOnError: false, logger: nestLogger(logger) };
  const app = await create(module, makeAdapter(), options);
  await app.init();
  if (app.get<Config>(CONFIG).ROLES.includes('api')) serveDocs(app, productVersion);
  await app.getHttpAdapter().getInstance().ready();
  return app;
};
