import { type INestApplication, type InjectionToken, Module, type Type } from '@nestjs/common';
import { PARAMTYPES_METADATA, SELF_DECLARED_DEPS_METADATA } from '@nestjs/common/constants.js';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { controllers } from '../api-modules';

/** What a controller is made with. In preview mode Nest looks for it, and makes neither. */
const dependenciesOf = (controller: Type): InjectionToken[] => {
  const types = (Reflect.getMetadata(PARAMTYPES_METADATA, controller) ?? []) as Type[];
  const named = (Reflect.getMetadata(SELF_DECLARED_DEPS_METADATA, controller) ?? []) as {
    readonly index: number;
    readonly param: InjectionToken;
  }[];
  return types.map((type, at) => named.find(({ index }) => index === at)?.param ?? type);
};

@Module({
  controllers: [...controllers],
  providers: controllers.flatMap(dependenciesOf).map((provide) => ({ provide, useValue: undefined })),
})
class DocumentedModule {}

/** The application for its documentation alone: nothing that it stands on is opened. */
export const previewApplication = (): Promise<INestApplication> =>
  NestFactory.create(DocumentedModule, new FastifyAdapter(), { preview: true, abortOnError: false, logger: false });
