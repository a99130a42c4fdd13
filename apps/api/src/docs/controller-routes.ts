import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { declarationOfHandler } from '../http/route';
import type { ServedRoute } from '../http/route-table';

/** The routes of controllers, read from their decorators without making anything. */
export const routesOf = (controllers: readonly Type[]): ServedRoute[] => controllers.flatMap(routesOfController);

const routesOfController = (controller: Type): ServedRoute[] => {
  const prototype = controller.prototype as Record<string, unknown>;
  const handlers = Object.getOwnPropertyNames(prototype)
    .map((name) => prototype[name])
    .filter((member): member is object => typeof member === 'function' && Reflect.hasMetadata(METHOD_METADATA, member));
  return handlers.flatMap((handler) =>
    pathsOf(controller).flatMap((base) =>
      pathsOf(handler).flatMap((path) =>
        methodsOf(handler).map((method) => ({
          method,
          url: joined(base, path),
          declaration: declarationOfHandler(handler),
        })),
      ),
    ),
  );
};

/** `PUT` is served as `PATCH` too. */
const methodsOf = (handler: object): string[] => {
  const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as number] as string;
  return method === 'PUT' ? ['PUT', 'PATCH'] : [method];
};

const pathsOf = (target: object): string[] => [Reflect.getMetadata(PATH_METADATA, target) as string | string[]].flat();

const joined = (...parts: readonly string[]): string =>
  `/${parts
    .flatMap((part) => part.split('/'))
    .filter(Boolean)
    .join('/')}`;
