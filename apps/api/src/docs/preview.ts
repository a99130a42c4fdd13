import { makeLogger } from '@app/http';
import { productVersion, readConfig, Resources } from '@app/kernel';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module';

/** The application in Nest's preview mode, for its documentation: its modules are read, and nothing that they provide is made or opened. */
export const previewApplication = (): Promise<INestApplication> => {
  const module = AppModule.forRoot({
    config: readConfig({}),
    environment: {},
    logger: makeLogger('silent'),
    resources: new Resources(),
    version: productVersion,
  });
  return NestFactory.create(module, new FastifyAdapter(), { preview: true, abortOnError: false, logger: false });
};
