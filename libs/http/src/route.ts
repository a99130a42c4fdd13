import { HttpCode, type Type } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
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
  /** Describes a body that is taken as it is, under any media type but that of `files`. The handler reads it, by `Uploads`. */
  readonly bytes?: string;
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

/** On the handler: what its decorators say. `@Documented` puts it on the route that is served, and requests go by that (`declarationOf`). */
const Declared = Reflector.createDecorator<RouteDeclaration>();
const reflector = new Reflector();

/** What the decorators of a handler have said so far. */
export const declaredOn = (handler: object): RouteDeclaration =>
  // The cast: a reflector takes any function that metadata may be on.
  (reflector.get(Declared, handler as Type) as RouteDeclaration | undefined) ?? {};

/** Adds to what a handler declares. */
const declare =
  (change: (declared: RouteDeclaration) => RouteDeclaration): MethodDecorator =>
  (target, key, descriptor) =>
    Declared(change(declaredOn(descriptor.value as object)))(target, key, descriptor);

/** Adds the schema of a parameter of a handler. Decorators of parameters come before those of their method. */
export const declareInput = (
  target: object,
  key: string | symbol | undefined,
  { body, query }: { readonly body?: z.ZodType; readonly query?: z.ZodObject },
): void => {
  const descriptor = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
  if (key === undefined || descriptor === undefined) throw new Error('Only handlers take a body or a query.');
  declare((route) => ({
    ...route,
    ...(body === undefined ? {} : { body: { schema: body, limit: JSON_LIMIT, required: true } }),
    ...(query === undefined ? {} : { query }),
  }))(target, key, descriptor);
};

/** Says who may call the handler. Without it nobody may, and a test fails. */
export const Requires = (requires: Requirement): MethodDecorator => declare((route) => ({ ...route, requires }));

/** Declares a body other than required JSON of at most `JSON_LIMIT`. `@BodyInput` names its schema. */
export const Accepts = (options: Partial<Omit<BodyDeclaration, 'schema' | 'onlyFiles'>>): MethodDecorator =>
  declare(({ body, ...route }) => {
    if (body === undefined) throw new Error('@Accepts without @BodyInput');
    return { ...route, body: { ...body, ...options } };
  });

/** Declares a body that comes as `multipart/form-data` alone; with `bytes`, which describes it, also as it is. */
export const AcceptsFiles = (files: MultipartBody, { bytes }: Pick<BodyDeclaration, 'bytes'> = {}): MethodDecorator =>
  declare((route) => ({
    ...route,
    body: {
      schema: NO_FIELDS,
      limit: JSON_LIMIT,
      required: true,
      files,
      onlyFiles: true,
      ...(bytes === undefined ? {} : { bytes }),
    },
  }));
const NO_FIELDS = z.strictObject({});

/** Declares a status and the schema of its body (null: no body). The lowest status is the usual one. */
export const Answers =
  (status: number, schema: z.ZodType | null = null): MethodDecorator =>
  (target, key, descriptor) => {
    declare((route) => ({ ...route, answers: { ...route.answers, [status]: schema } }))(target, key, descriptor);
    const statuses = Object.keys(declaredOn(descriptor.value as object).answers ?? {});
    HttpCode(Math.min(...statuses.map(Number)))(target, key, descriptor);
  };

/** Documents the media type of a 200 that is not, or not always, JSON. */
export const AnswersAs = (mediaType: string): MethodDecorator => declare((route) => ({ ...route, mediaType }));

/** Documents the error codes of the handler. */
export const Rejects = (...codes: readonly string[]): MethodDecorator =>
  declare((route) => ({ ...route, rejects: [...(route.rejects ?? []), ...codes] }));

/** The views that the handler answers from: `x-read-after` waits for them. A `GET` that answers from none says `@Reads()`. */
export const Reads = (...reads: readonly string[]): MethodDecorator => declare((route) => ({ ...route, reads }));
