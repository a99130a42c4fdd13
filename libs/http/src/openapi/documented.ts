import { UseInterceptors } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  ApiBody,
  ApiExtension,
  ApiHeader,
  ApiParam,
  ApiProduces,
  ApiResponse,
  ApiSecurity,
  ApiTags,
} from '@nestjs/swagger';
import { IdempotencyInterceptor } from '../idempotency-interceptor';
import { methodOf, pathOf } from '../nest-metadata';
import { type BodyDeclaration, declaredOn, type Requirement, type RouteDeclaration } from '../route';
import { BYTES, MULTIPART } from './complete-document';
import { isCompatPath } from './error-envelope';
import { errorResponses } from './error-responses';
import { jsonSchemaOf } from './json-schema';
import { parameterDescription, wildcardOf } from './path-parameters';
import type { Tag } from './tags';

/**
 * Documents the handlers of a controller under a tag. `@nestjs/swagger` reads `@ApiOperation`, `@BodyInput` and
 * `@QueryInput` itself; this adds what follows from the other decorators, and has writes take an `Idempotency-Key`. It also puts what handlers declare on their
 * routes, where the guards look: without it nobody may call them. Put it above `@Controller`.
 */
export const Documented =
  (tag: Tag): ClassDecorator =>
  (controller) => {
    ApiTags(tag)(controller);
    const prototype = controller.prototype as object;
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      const handler: unknown = descriptor.value;
      const method = typeof handler === 'function' ? methodOf(handler) : undefined;
      if (typeof handler !== 'function' || method === undefined) continue;
      const path = `${pathOf(controller)}/${pathOf(handler)}`;
      const declaration = declaredOn(handler);
      assertDeclared(`${controller.name}.${name}`, method, declaration);
      RouteConfig({ route: declaration })(prototype, name, descriptor);
      for (const decorate of documentation(method, path, declaration)) decorate(prototype, name, descriptor);
      if (isRepeatable(method, path, declaration)) UseInterceptors(IdempotencyInterceptor)(prototype, name, descriptor);
    }
  };

/** What is forgotten shows nowhere else: the document would lack an answer, and a read would not wait for its views. */
const assertDeclared = (handler: string, method: string, { answers, reads }: RouteDeclaration): void => {
  if (answers === undefined) throw new Error(`${handler} does not say what it answers: add @Answers(status, schema).`);
  if (method === 'GET' && reads === undefined)
    throw new Error(`${handler} does not say which views it answers from: add @Reads(...views), or @Reads() for none.`);
};

const documentation = (method: string, path: string, declaration: RouteDeclaration): MethodDecorator[] => [
  ...securityOf(declaration.requires),
  ApiExtension('x-permission', declaration.requires),
  ...pathParameters(path),
  ...(isCompatPath(path) || isPublicWrite(method, declaration) ? [] : headers(method, declaration)),
  ...bodyOf(declaration),
  ...answersOf(method !== 'GET' && !isCompatPath(path), declaration),
  ...errorResponses(method, path, declaration).map((response) => ApiResponse(response)),
];

/** True for the writes of known callers to the core API. Calls of models by the gateway run each time. */
const isRepeatable = (method: string, path: string, declaration: RouteDeclaration): boolean =>
  method !== 'GET' && !isCompatPath(path) && !isPublicWrite(method, declaration);

const isPublicWrite = (method: string, { requires }: RouteDeclaration): boolean =>
  method !== 'GET' && requires === 'public';

const securityOf = (requires: Requirement | undefined): MethodDecorator[] => {
  if (requires === 'public' || requires === 'docs') return [];
  if (requires === 'compat') return [ApiSecurity('bearer'), ApiSecurity('apiKey')];
  return requires === 'monitoring' ? [ApiSecurity('metricsToken'), ...core()] : core();
};

const core = (): MethodDecorator[] => [ApiSecurity('apiKey'), ApiSecurity('session')];

const pathParameters = (path: string): MethodDecorator[] =>
  [...path.replace('*', `:${wildcardOf(path)}`).matchAll(/:(\w+)/g)].map(([, name = '']) =>
    ApiParam({ name, description: parameterDescription(name), schema: { type: 'string' } }),
  );

const headers = (method: string, { body }: RouteDeclaration): MethodDecorator[] =>
  method === 'GET'
    ? [
        ApiHeader({
          name: 'x-read-after',
          description: 'The `x-log-position` of a write. The answer waits until its view has reached that position.',
        }),
      ]
    : [
        ...(body?.onlyFiles ? [] : [repeatable(body)]),
        ApiHeader({
          name: 'If-Match',
          description: 'The `etag` that you read. If the revision has changed since, the request is rejected with 412.',
        }),
      ];

const repeatable = (body: BodyDeclaration | undefined): MethodDecorator =>
  ApiHeader({
    name: 'Idempotency-Key',
    description: `Runs the request once, however often it is sent. Repeats get the first answer.${
      body?.files === undefined ? '' : ' Only with JSON.'
    }`,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  });

const bodyOf = ({ body }: RouteDeclaration): MethodDecorator[] => {
  if (body === undefined) return [];
  return [
    ...(body.files === undefined ? [] : [ApiExtension(MULTIPART, jsonSchemaOf(body.files.schema, 'input'))]),
    ...(body.bytes === undefined ? [] : [ApiExtension(BYTES, body.bytes)]),
    ...(body.required ? [] : [ApiBody({ required: false })]),
  ];
};

const answersOf = (mayBeLate: boolean, { answers = {}, mediaType }: RouteDeclaration): MethodDecorator[] => [
  ...(mediaType === undefined
    ? []
    : [ApiProduces(...(Object.values(answers).some(Boolean) ? ['application/json'] : []), mediaType)]),
  ...Object.entries(answers).map(([status, schema]) =>
    ApiResponse({
      status: Number(status),
      description: descriptions[status] ?? 'Done.',
      ...(schema === null ? {} : { standardSchema: schema }),
      ...(mayBeLate && schema !== null ? { headers: LATE } : {}),
      ...(schema === null && mediaType !== undefined && status !== '204' ? { schema: { type: 'string' } } : {}),
    }),
  ),
];

/** Of writes: see `Writes`. */
const LATE = {
  'x-view-late': {
    description:
      '`true` where a view is late or away. An answer that would show what was written may then be its `id` and `revision` alone: read it again with `x-read-after`.',
    schema: { type: 'string' as const, enum: ['true'] },
  },
};

const descriptions: Readonly<Record<string, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted. The work continues in the background.',
  204: 'Done; no content.',
  503: 'Not ready.',
};
