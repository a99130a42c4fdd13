import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { refuse } from '@app/kernel';
import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { ReadStream } from 'node:fs';
import { Answers, JsonText, Requires, Summary } from '../http';

/** Injection token of a function that writes the OpenAPI document as JSON. */
export const OPENAPI_TEXT = Symbol('OpenApiText');

/** What the page needs of the installed Swagger UI; nothing is fetched from elsewhere. */
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent Platform API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null });\n`;

const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

@Controller()
export class DocsController {
  private readonly folder = dirname(createRequire(__filename).resolve('swagger-ui-dist/package.json'));
  private document: JsonText | undefined;

  constructor(@Inject(OPENAPI_TEXT) private readonly openApiText: () => string) {}

  @Get('openapi.json')
  @Requires('docs')
  @Summary('The OpenAPI document of this API.')
  @Answers(200)
  openApi(): JsonText {
    this.document ??= new JsonText(this.openApiText());
    return this.document;
  }

  @Get('docs')
  @Requires('docs')
  @Summary('The documentation of this API as a page.')
  @Answers(200)
  page(@Res({ passthrough: true }) reply: FastifyReply): string {
    reply.header('content-type', 'text/html; charset=utf-8').header('content-security-policy', POLICY);
    return PAGE;
  }

  @Get('docs/:file')
  @Requires('docs')
  @Summary('Parts of the documentation page.')
  @Answers(200)
  asset(@Param('file') file: string, @Res({ passthrough: true }) reply: FastifyReply): string | Promise<ReadStream> {
    if (file === 'start.js') {
      reply.header('content-type', 'text/javascript; charset=utf-8');
      return START;
    }
    const type = Object.hasOwn(ASSETS, file) ? ASSETS[file] : undefined;
    if (type === undefined) return refuse('not_found', { kind: 'page', id: file });
    reply.header('content-type', type).header('cache-control', 'public, max-age=3600');
    return Promise.resolve(createReadStream(join(this.folder, file)));
  }
}
