import { reject } from '@app/kernel';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { openApiDocument } from './openapi';

/** Nothing is fetched from another host. */
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

/** What the page takes of the folder of Swagger UI. */
const FILES: ReadonlySet<string> = new Set([
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'favicon-16x16.png',
  'favicon-32x32.png',
]);

/** Serves `/openapi.json` and `/docs`. */
export const serveDocs = (app: NestFastifyApplication, version: string): void =>
  SwaggerModule.setup('docs', app, () => openApiDocument(app, version), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Agent Platform API',
    swaggerOptions: { deepLinking: true, validatorUrl: null },
  });

/** Says who may call the routes that `SwaggerModule` registers, which know nothing of the edge. */
export const declareDocs = (fastify: FastifyInstance): void => {
  fastify.addHook('onRoute', (route) => {
    if (!isOfDocs(route)) return;
    route.config = { ...route.config, route: { requires: 'docs' } };
    route.preHandler = [underPolicy];
    route.onSend = [inUtf8];
  });
};

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
