import { RequestMethod } from '@nestjs/common';
// Nest has no public name for these three keys. They are read here alone.
import { INTERCEPTORS_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';

/** The method of a handler, such as `GET`; undefined for a function that is none. */
export const methodOf = (handler: object): string | undefined => {
  const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
  return method === undefined ? undefined : RequestMethod[method];
};

/** The path of a controller, or of a handler in it. */
export const pathOf = (target: object): string => Reflect.getMetadata(PATH_METADATA, target) as string;

/** The interceptors of a controller, by their classes. */
export const interceptorsOf = (controller: object): readonly unknown[] =>
  (Reflect.getMetadata(INTERCEPTORS_METADATA, controller) ?? []) as readonly unknown[];
