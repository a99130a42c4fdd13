import { COORDINATION_STORE, type CoordinationStore } from '@app/coordination';
import { idOf, type RecordedEvent } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { requesterOf } from '../document/requester';
import { Retitles } from '../retitle/retitles';

/**
 * Embeds renamed documents again with their new title, even if they were renamed while a re-index made the passages
 * that are searched now.
 */
@PolicyHandler()
export class RetitleRenamedDocuments implements Policy {
  readonly name = 'retitle-renamed-documents';
  readonly types = ['DocumentRenamed', 'DocumentPassagesSwapped'];
  private readonly retitles: Retitles;

  constructor(@Inject(COORDINATION_STORE) coordination: CoordinationStore) {
    this.retitles = new Retitles(coordination);
  }

  react(event: RecordedEvent): Promise<void> {
    const askedBy = event.type === 'DocumentRenamed' ? requesterOf(event) : null;
    return this.retitles.add(idOf(event.context.stream), askedBy, event.context.id);
  }
}
