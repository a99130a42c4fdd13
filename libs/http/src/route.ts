import { HttpCode } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { Permission } from '@app/access';
import type { z } from 'zod';

/**
 * Who may call a route: callers with a permission, any caller, everybody; `docs` is everybody or any caller as `PUBLIC_DOCS`
 * says, `monitoring` whoever has the permission `operations` or the `METRICS_TOKEN`.
 */
export type Requirement = Permission | 'authenticated' | 'public' | 'docs' | 'monitoring';

/** What a route takes as body. */
export interface BodyDeclaration {
  readonly schema: z.ZodType;
  /** Largest JSON body, bytes. */
  readonly limit: number;
  /** Whether `multipart/form-data` is taken too. */
  readonly files: boolean;
  /** False where the route also works without a body. */
  readonly required: boolean;
}

/** What a handler says about itself: it is enforced at the edge and documented in OpenAPI. */
export interface RouteDeclaration {
  readonly requires?: Requirement;
  readonly body?: BodyDeclaration;
  readonly query?: z.ZodObject;
  readonly answers?: Readonly<Record<number, z.ZodType | null>>;
  /** What it answers as beside JSON, where there is any. */
  readonly mediaType?: string;
  /** Codes of this route beyond those that every route of its kind may answer. */
  readonly rejects?: readonly string[];
  /** Views that `x-read-after` waits for. */
  readonly reads?: readonly string[];
}

/** 1 MiB: JSON bodies (wire, Everywhere). */
export const JSON_LIMIT = 1024 ** 2;
/** 32 MiB: LLM, compatible and document routes. */
export const LARGE_JSON_LIMIT = 32 * 1024 ** 2;

const declarations = new WeakMap<object, RouteDeclaration>();

/** What a handler declares. */
export const declarationOfHandler = (handler: object): RouteDeclaration => declarations.get(handler) ?? {};

/** Adds to what is declared of a handler. Fastify carries the whole as the route's `config.route`. */
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
    ...(body === undefined ? {} : { body: { schema: body, limit: JSON_LIMIT, files: false, required: true } }),
    ...(query === undefined ? {} : { query: query as z.ZodObject }),
  };
};

/** Who may call the handler. Without it nobody may, and a test fails. */
export const Requires = (requires: Requirement): MethodDecorator => declare((route) => ({ ...route, requires }));

/** How a body is taken, where it is not JSON of at most `JSON_LIMIT` that has to be there. `@BodyInput` names its schema. */
export const Accepts = (options: Partial<Omit<BodyDeclaration, 'schema'>>): MethodDecorator =>
  declare(({ body, ...route }) => {
    if (body === undefined) throw new Error('@Accepts without @BodyInput');
    return { ...route, body: { ...body, ...options } };
  });

/** A status the handler answers with and the schema of its body (null: none). The lowest is its usual one. */
export const Answers =
  (status: number, schema: z.ZodType | null = null): MethodDecorator =>
  (target, key, descriptor) => {
    declare((route) => ({ ...route, answers: { ...route.answers, [status]: schema } }))(target, key, descriptor);
    const statuses = Object.keys(declarationOfHandler(descriptor.value as object).answers ?? {});
    HttpCode(Math.min(...statuses.map(Number)))(target, key, descriptor);
  };

/** What the handler answers 200 as where that is not JSON, or not always, for the documentation. */
export const AnswersAs = (mediaType: string): MethodDecorator => declare((route) => ({ ...route, mediaType }));

/** Codes that the handler may reject with, for the documentation. */
export const Rejects = (...codes: readonly string[]): MethodDecorator =>
  declare((route) => ({ ...route, rejects: [...(route.rejects ?? []), ...codes] }));

/** The views that the handler answers from: `x-read-after` waits for them. A `GET` that answers from none says `@Reads()`. */
export const Reads = (...reads: readonly string[]): MethodDecorator => declare((route) => ({ ...route, reads }));
