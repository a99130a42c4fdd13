import { HttpCode } from '@nestjs/common';
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
  readonly summary?: string;
  readonly body?: BodyDeclaration;
  readonly query?: z.ZodObject;
  readonly answers?: Readonly<Record<number, z.ZodType | null>>;
  /** Answers 200 as CSV too, where the request accepts that rather than JSON. */
  readonly csv?: true;
  /** Codes of this route beyond those that every route of its kind may answer. */
  readonly refuses?: readonly string[];
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
    const route = change(declarationOfHandler(handler));
    declarations.set(handler, route);
    RouteConfig({ route })(target, key, descriptor);
  };

/** Who may call the handler. Without it nobody may, and a test fails. */
export const Requires = (requires: Requirement): MethodDecorator => declare((route) => ({ ...route, requires }));

/** One sentence for the documentation. */
export const Summary = (summary: string): MethodDecorator => declare((route) => ({ ...route, summary }));

/** The body's schema. The handler checks it itself with `input(schema, body)`, after it has asked for the target. */
export const Accepts = (schema: z.ZodType, options: Partial<Omit<BodyDeclaration, 'schema'>> = {}): MethodDecorator =>
  declare((route) => ({ ...route, body: { schema, limit: JSON_LIMIT, files: false, required: true, ...options } }));

/** The query parameters' schema. A route without it refuses every parameter; the handler reads them with `query(schema, raw)`. */
export const Parameters = (query: z.ZodObject): MethodDecorator => declare((route) => ({ ...route, query }));

/** A status the handler answers with and the schema of its body (null: none). The lowest is its usual one. */
export const Answers =
  (status: number, schema: z.ZodType | null = null): MethodDecorator =>
  (target, key, descriptor) => {
    declare((route) => ({ ...route, answers: { ...route.answers, [status]: schema } }))(target, key, descriptor);
    const statuses = Object.keys(declarationOfHandler(descriptor.value as object).answers ?? {});
    HttpCode(Math.min(...statuses.map(Number)))(target, key, descriptor);
  };

/** The handler answers 200 as CSV too, where the request accepts that rather than JSON: for the documentation. */
export const AnswersCsv = (): MethodDecorator => declare((route) => ({ ...route, csv: true }));

/** Codes that the handler may refuse with, for the documentation. */
export const Refuses = (...codes: readonly string[]): MethodDecorator =>
  declare((route) => ({ ...route, refuses: [...(route.refuses ?? []), ...codes] }));

/** The views that the handler answers from: `x-read-after` waits for them. */
export const Reads = (...reads: readonly string[]): MethodDecorator => declare((route) => ({ ...route, reads }));
