import type { Scope } from '@app/search-index';
import type { Embedding } from '../embed-metered';
import type { ShownDocuments } from '../lookups';

/** How long it is remembered which models there are vectors of, milliseconds. */
const REMEMBERED_MS = 1_000;
/** How long a model is still searched at a level after the last of its vectors was swapped: the search view may show it a moment longer. */
const LINGERING_MS = 10_000;

/** The models that a query is embedded with. */
export interface LiveModels {
  /** The configured one first. */
  readonly embeddings: readonly Embedding[];
  /** Whether documents have vectors of a model that is configured no more: they are found by their words alone. */
  readonly isOneGone: boolean;
}

/** The models whose vectors are searched: the configured one and, after a change of it, those of before, until the re-index that follows is swapped. */
export class SearchedModels {
  private known: { readonly models: readonly string[]; readonly until: number } | undefined;
  /** When documents at some levels were last seen with a model. */
  private readonly seen = new Map<string, number>();

  constructor(
    private readonly models: { embedding(): Embedding; otherEmbeddings(): readonly Embedding[] },
    private readonly shown: Pick<ShownDocuments, 'models' | 'hasModel'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  async at(scopes: readonly Scope[]): Promise<LiveModels> {
    const embedding = this.models.embedding();
    const now = this.now();
    for (const [place, at] of this.seen) if (now - at > LINGERING_MS) this.seen.delete(place);
    const placeOf = (model: string): string => [model, ...scopes].join('\n');
    const present: string[] = [];
    for (const model of await this.all(now))
      if (model !== embedding.model.key && (await this.shown.hasModel(model, scopes))) {
        present.push(model);
        this.seen.set(placeOf(model), now);
      }
    const configured = this.models.otherEmbeddings();
    const others = configured.filter(({ model: { key } }) => this.seen.has(placeOf(key)));
    const isOneGone = present.some((model) => !configured.some(({ model: { key } }) => key === model));
    return { embeddings: [embedding, ...others], isOneGone };
  }

  private async all(now: number): Promise<readonly string[]> {
    if (this.known === undefined || this.known.until <= now)
      this.known = { models: await this.shown.models(), until: now + REMEMBERED_MS };
    return this.known.models;
  }
}
