import { reject } from '@app/kernel';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { Admission } from '../admission';
import type { RouteDeclaration } from '../route';
import { openApiDocument } from './openapi';

/** Fetch nothing from other hosts. */
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

/** Files of Swagger UI that the page loads. */
const FILES: ReadonlySet<string> = new Set([
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'favicon-16x16.png',
  'favicon-32x32.png',
]);

/**
 * Serves `/openapi.json` and `/docs`. Makes the document at the first request and keeps its bytes; `SwaggerModule`
 * would serialise it for each request.
 */
export const serveDocs = (app: NestFastifyApplication, version: string): void => {
  let document: OpenAPIObject | undefined;
  const made = (): OpenAPIObject => (document ??= openApiDocument(app, version));
  let bytes: Buffer | undefined;
  SwaggerModule.setup('docs', app, made, {
    raw: false,
    customSiteTitle: 'Agent Platform API',
    swaggerOptions: { deepLinking: true, validatorUrl: null },
  });
  app.getHttpAdapter().get('/openapi.json', (_request, reply: FastifyReply) => {
    bytes ??= Buffer.from(JSON.stringify(made()));
    void reply.type('application/json; charset=utf-8').send(bytes);
  });
};

/** Says who may call these routes, and checks it. They are registered beside controllers, so they have no decorators and no guards. */
export const declareDocs = (fastify: FastifyInstance, admission: Admission): void => {
  const admitted = async (request: FastifyRequest): Promise<void> => {
    await admission.admit(request, DECLARATION);
  };
  fastify.addHook('onRoute', (route) => {
    if (!isOfDocs(route)) return;
    route.config = { ...route.config, route: DECLARATION };
    route.onRequest = [admitted];
    route.preHandler = [underPolicy];
    route.onSend = [inUtf8];
  });
};

const DECLARATION: RouteDeclaration = { requires: 'docs' };

const isOfDocs = ({ url }: RouteOptions): boolean => /^\/(?:docs(?:\/|$)|openapi\.json$)/.test(url);

const underPolicy = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
  const { '*': file } = request.params as { readonly '*'?: string };
  if (file !== undefined && !FILES.has(file)) reject('not_found', { kind: 'page', id: file });
  reply.header('content-security-policy', POLICY);
};

const inUtf8 = (
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void => {
  if (reply.getHeader('content-type') === 'text/html') reply.header('content-type', 'text/html; charset=utf-8');
  done(null, payload);
};
