import { RETRIEVER } from '@app/conversations';
import { KnowledgeModule } from '@app/knowledge';
import { Module } from '@nestjs/common';
import { passages } from './passages.projection';
import { PassageRetriever } from './retriever';

/** The search view over all Knowledge. */
@Module({
  imports: [KnowledgeModule],
  providers: [{ provide: RETRIEVER, useClass: PassageRetriever }],
  exports: [RETRIEVER],
})
export class PassagesViewModule {
  static readonly projections = [passages];
}
