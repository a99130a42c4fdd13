import type { Scope } from '@app/search-index';
import type { Embedding, EmbeddingModels } from '../embed-metered';
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
  /** By levels: when documents there were last seen with a model, by its key. */
  private readonly seen = new Map<string, Map<string, number>>();

  constructor(
    private readonly models: EmbeddingModels,
    private readonly shown: Pick<ShownDocuments, 'models' | 'hasModel'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  async at(scopes: readonly Scope[]): Promise<LiveModels> {
    const embedding = this.models.embedding();
    const seen = await this.seenAt(scopes, embedding.model.key);
    const configured = this.models.otherEmbeddings();
    const others = configured.filter(({ model: { key } }) => seen.has(key));
    const isOneGone = [...seen.keys()].some((model) => !configured.some(({ model: { key } }) => key === model));
    return { embeddings: [embedding, ...others], isOneGone };
  }

  /** The models, but for one, that documents at some levels have vectors of, or had a moment ago. */
  private async seenAt(scopes: readonly Scope[], except: string): Promise<ReadonlyMap<string, number>> {
    const now = this.now();
    const present: string[] = [];
    for (const model of await this.all(now))
      if (model !== except && (await this.shown.hasModel(model, scopes))) present.push(model);
    for (const [levels, models] of this.seen) {
      for (const [model, at] of models) if (now - at > LINGERING_MS) models.delete(model);
      if (models.size === 0) this.seen.delete(levels);
    }
    const levels = scopes.join('\n');
    const seen = this.seen.get(levels) ?? new Map<string, number>();
    for (const model of present) seen.set(model, now);
    seen.delete(except);
    if (seen.size > 0) this.seen.set(levels, seen);
    return seen;
  }

  private async all(now: number): Promise<readonly string[]> {
    if (this.known === undefined || this.known.until <= now)
      this.known = { models: await this.shown.models(), until: now + REMEMBERED_MS };
    return this.known.models;
  }
}
