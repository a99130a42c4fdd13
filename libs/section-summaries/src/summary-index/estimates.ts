import { BLOBS, type Blobs } from '@app/blobs';
import { Models } from '@app/models';
import { Inject, Injectable } from '@nestjs/common';
import { estimateOf } from '../building/estimate';
import { EMPTY_HIERARCHY, hierarchyOf } from '../building/hierarchy';
import { type SummarisedAgent, SUMMARY_SOURCES, type SummarySources } from '../lookups';
import type { SummaryIndex } from './summary-index.decider';
import type { BuildEstimate, BuildMode } from './summary-index.events';

/** About what builds would take, as documents are shown now. */
@Injectable()
export class Estimates {
  constructor(
    private readonly models: Models,
    @Inject(BLOBS) private readonly blobs: Blobs,
    @Inject(SUMMARY_SOURCES) private readonly sources: SummarySources,
  ) {}

  /** `model`: key of the chat model. Rejects `model_not_available`. */
  async of(agent: SummarisedAgent, index: SummaryIndex, mode: BuildMode, model: string): Promise<BuildEstimate> {
    const isAnew = index.status !== 'present' || mode === 'rebuild';
    return estimateOf({
      documents: await this.sources.of(agent),
      before: isAnew ? EMPTY_HIERARCHY : await hierarchyOf(this.blobs, index),
      chat: this.models.chat(model).model,
      embedding: this.models.embedding().model,
    });
  }
}
