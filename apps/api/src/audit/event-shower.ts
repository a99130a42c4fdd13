import { contentKeyOf, holdsContent, type ShownEvent, shownEvent, type ShowOptions } from '@app/auditing';
import type { DataKey, StoredEvent } from '@app/kernel';
import { SealedOrdinals } from '@app/sealing';
import { VAULT, type Vault } from '@app/vault';
import { Inject, Injectable } from '@nestjs/common';

/** Shows stored events to auditors, with their ordinals and, where asked for, their content. */
@Injectable()
export class EventShower {
  constructor(
    @Inject(VAULT) private readonly vault: Vault,
    private readonly ordinals: SealedOrdinals,
  ) {}

  async show(events: readonly StoredEvent[], options: ShowOptions): Promise<readonly ShownEvent[]> {
    const [keys, ordinals] = await Promise.all([this.keysOf(events), this.ordinals.of(events)]);
    return events.map((event) => shownEvent(event, ordinals.get(event.id) ?? null, keys, options));
  }

  /** True when one of the events holds content that is not erased. */
  async holdContent(events: readonly StoredEvent[]): Promise<boolean> {
    const keys = await this.keysOf(events);
    return events.some((event) => holdsContent(event, keys));
  }

  private keysOf(events: readonly StoredEvent[]): Promise<ReadonlyMap<string, DataKey>> {
    return this.vault.keys([...new Set(events.map(contentKeyOf))]);
  }
}
