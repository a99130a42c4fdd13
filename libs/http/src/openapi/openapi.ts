import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { z } from 'zod';
import { errorEnvelope } from './error-envelope';
import { completed } from './complete-document';
import { NamedSchemas } from './named-schemas';
import { problem } from './problem-schema';
import { tags } from './tags';

/** Makes the OpenAPI 3.1 document of an application's controllers. The same controllers give the same bytes. */
export const openApiDocument = (app: INestApplication, version: string): OpenAPIObject => {
  const schemas = new NamedSchemas();
  const document = SwaggerModule.createDocument(app, frame(version), {
    autoTagControllers: false,
    standardSchemaConverter: (schema, { schemaType }) => schemas.convert(schema as z.ZodType, schemaType),
  });
  for (const schema of [problem, errorEnvelope]) schemas.convert(schema, 'output');
  return completed(document, schemas);
};

const frame = (version: string): Omit<OpenAPIObject, 'paths'> => {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Agent Platform')
    .setDescription(
      'An open platform for running AI agents, on an event log. What was erased reads `{ "erased": true }` in place of its value, wherever something that is being deleted still shows.',
    )
    .setVersion(version)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/')
    .addSecurity('apiKey', { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API key.' })
    .addSecurity('session', {
      type: 'apiKey',
      in: 'cookie',
      name: 'ap_session',
      description: 'The session started with `POST /api/v1/session`, for pages of the same origin.',
    })
    .addSecurity('bearer', {
      type: 'http',
      scheme: 'bearer',
      description: 'The same API key, on the compatible API.',
    })
    .addSecurity('metricsToken', { type: 'http', scheme: 'bearer', description: 'The value of `METRICS_TOKEN`.' });
  for (const [name, description] of Object.entries(tags)) builder.addTag(name, description);
  return builder.build();
};
