import type { HistoryItem } from '@app/auditing';
import { JsonText } from '@app/http';
import { PAGE_SIZE } from '@app/read-store';

interface Page {
  /** The newest first. */
  readonly items: readonly JsonText[];
  /** Position of the oldest of them; empty where there are none. */
  readonly last: string;
  /** There are no older ones. */
  readonly isWhole: boolean;
}

/** The newest of items that come oldest first: as many as one page takes, and no more is held. */
export class NewestItems {
  private readonly held: { readonly position: string; readonly json: JsonText }[] = [];
  private size = 0;
  private isWhole = true;

  constructor(private readonly limit: number) {}

  add(item: HistoryItem): void {
    // No presenter: an item is made field by field, and its values, which may be long, are anything.
    const json = new JsonText(JSON.stringify(item));
    this.held.push({ position: item.position, json });
    this.size += json.text.length;
    while (this.held.length > this.limit || (this.size > PAGE_SIZE && this.held.length > 1)) {
      this.size -= this.held.shift()?.json.text.length ?? 0;
      this.isWhole = false;
    }
  }

  page(): Page {
    return {
      items: this.held.map(({ json }) => json).toReversed(),
      last: this.held[0]?.position ?? '',
      isWhole: this.isWhole,
    };
  }
}
