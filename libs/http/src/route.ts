import { HttpCode } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { Permission } from '@app/access';
import { z } from 'zod';
import type { MultipartBody } from './multipart-body';

/**
 * Who may call a route: callers with a permission, any caller, or everybody. `docs` is everybody or any caller,
 * depending on `PUBLIC_DOCS`; `monitoring` needs the permission `operations` or the `METRICS_TOKEN`.
 */
export type Requirement = Permission | 'authenticated' | 'public' | 'docs' | 'monitoring';

/** The body that a route accepts. */
export interface BodyDeclaration {
  readonly schema: z.ZodType;
  /** Largest JSON body, bytes. */
  readonly limit: number;
  /** The body that it accepts as `multipart/form-data`. */
  readonly files?: MultipartBody;
  /** True if JSON is no way to send it: the handler says so where it comes. */
  readonly onlyFiles?: true;
  /** False if the body may be missing. */
  readonly required: boolean;
  /** True if the Agent of the path may be one that the caller can use no more: the handler alone checks who may, when the body is read. */
  readonly ofLostAgents?: true;
}

/** What a handler declares. The edge enforces it; OpenAPI documents it. */
export interface RouteDeclaration {
  readonly requires?: Requirement;
  readonly body?: BodyDeclaration;
  readonly query?: z.ZodObject;
  readonly answers?: Readonly<Record<number, z.ZodType | null>>;
  /** Media type of an answer that is not JSON. */
  readonly mediaType?: string;
  /** Error codes of this route, beyond those of every route of its kind. */
  readonly rejects?: readonly string[];
  /** Views that `x-read-after` waits for. */
  readonly reads?: readonly string[];
}

/** 1 MiB: JSON bodies (wire, Everywhere). */
export const JSON_LIMIT = 1024 ** 2;
/** 32 MiB: LLM, compatible and document routes. */
export const LARGE_JSON_LIMIT = 32 * 1024 ** 2;

const declarations = new WeakMap<object, RouteDeclaration>();

/** Reads what a handler declares. */
export const declarationOfHandler = (handler: object): RouteDeclaration => declarations.get(handler) ?? {};

/** Adds to what a handler declares. Fastify carries it as `config.route` of the route. */
const declare =
  (change: (declared: RouteDeclaration) => RouteDeclaration): MethodDecorator =>
  (target, key, descriptor) => {
    const handler = descriptor.value as object;
    const route = change(declarations.get(handler) ?? declaredByParameters(target, key));
    declarations.set(handler, route);
    RouteConfig({ route })(target, key, descriptor);
  };

/** The schemas of `@BodyInput` and `@QueryInput`: decorators of parameters come before those of their method. */
const declaredByParameters = (target: object, handler: string | symbol): RouteDeclaration => {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, target.constructor, handler) ?? {}) as Record<
    string,
    { readonly schema?: z.ZodType }
  >;
  const schemaOf = (type: RouteParamtypes): z.ZodType | undefined =>
    Object.entries(parameters).find(([place]) => place.startsWith(`${type}:`))?.[1].schema;
  const body = schemaOf(RouteParamtypes.BODY);
  const query = schemaOf(RouteParamtypes.QUERY);
  return {
    ...(body === undefined ? {} : { body: { schema: body, limit: JSON_LIMIT, required: true } }),
    ...(query === undefined ? {} : { query: query as z.ZodObject }),
  };
};

/** Says who may call the handler. Without it nobody may, and a test fails. */
export const Requires = (requires: Requirement): MethodDecorator => declare((route) => ({ ...route, requires }));

/** Declares a body other than required JSON of at most `JSON_LIMIT`. `@BodyInput` names its schema. */
export const Accepts = (options: Partial<Omit<BodyDeclaration, 'schema' | 'onlyFiles'>>): MethodDecorator =>
  declare(({ body, ...route }) => {
    if (body === undefined) throw new Error('@Accepts without @BodyInput');
    return { ...route, body: { ...body, ...options } };
  });

/** Declares a body that comes as `multipart/form-data` alone. */
export const AcceptsFiles = (files: MultipartBody): MethodDecorator =>
  declare((route) => ({
    ...route,
    body: { schema: NO_FIELDS, limit: JSON_LIMIT, required: true, files, onlyFiles: true },
  }));
const NO_FIELDS = z.strictObject({});

/** Declares a status and the schema of its body (null: no body). The lowest status is the usual one. */
export const Answers =
  (status: number, schema: z.ZodType | null = null): MethodDecorator =>
  (target, key, descriptor) => {
    declare((route) => ({ ...route, answers: { ...route.answers, [status]: schema } }))(target, key, descriptor);
    const statuses = Object.keys(declarationOfHandler(descriptor.value as object).answers ?? {});
    HttpCode(Math.min(...statuses.map(Number)))(target, key, descriptor);
  };

/** Documents the media type of a 200 that is not, or not always, JSON. */
export const AnswersAs = (mediaType: string): MethodDecorator => declare((route) => ({ ...route, mediaType }));

/** Documents the error codes of the handler. */
export const Rejects = (...codes: readonly string[]): MethodDecorator =>
  declare((route) => ({ ...route, rejects: [...(route.rejects ?? []), ...codes] }));

/** The views that the handler answers from: `x-read-after` waits for them. A `GET` that answers from none says `@Reads()`. */
export const Reads = (...reads: readonly string[]): MethodDecorator => declare((route) => ({ ...route, reads }));
