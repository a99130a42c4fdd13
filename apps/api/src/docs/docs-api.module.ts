import { type DynamicModule, Module } from '@nestjs/common';
import { DocsController, OPENAPI_TEXT } from './docs.controller';

/** The document of the API, and its page. */
@Module({ controllers: [DocsController] })
export class DocsApiModule {
  /** `openApiText` writes the document as JSON when it is asked for. */
  static forRoot(openApiText: () => string): DynamicModule {
    return { module: DocsApiModule, providers: [{ provide: OPENAPI_TEXT, useValue: openApiText }] };
  }
}
