import { Pool } from 'undici';
import type { ModelDescription, ProviderDescription } from '../catalogue';
import type { ModelKind } from '../pricing';
import { CircuitBreaker, type CircuitState } from './circuit-breaker';
import { Exchange } from './exchange';

/** What a provider is asked for: a path behind its base URL. */
export type Operation =
  | 'chat/completions'
  | 'embeddings'
  | 'rerank'
  | 'images/generations'
  | 'images/edits'
  | 'audio/speech'
  | 'audio/transcriptions';

/** What a provider is sent: JSON, or a form with its own type. */
export type UpstreamBody = string | { readonly type: string; readonly bytes: Uint8Array };

/** An answer that has begun may be silent for so long, milliseconds: what stock clients wait for a silent server. */
const SILENCE_MS = 300_000;

/** A provider of the catalogue: its address, key, pool of connections and circuits. Redirects are not followed. */
export class Upstream {
  /** One for each kind of model: chat goes on where only the reranker fails. */
  private readonly breakers = new Map<ModelKind, CircuitBreaker>();
  private readonly pool: Pool;
  private readonly headers: readonly string[];
  private readonly basePath: string;
  /** The query of the base URL, with its `?`: some providers want one with each call. */
  private readonly query: string;

  /** `key`: the provider's API key; undefined where it wants none. */
  constructor(
    readonly name: string,
    readonly description: ProviderDescription,
    key: string | undefined,
    silenceMs = SILENCE_MS,
  ) {
    const base = new URL(description.baseUrl);
    this.basePath = base.pathname.replace(/\/+$/, '');
    // One that the address itself names is meant.
    if (description.kind === 'azure' && !base.searchParams.has('api-version'))
      base.searchParams.set('api-version', description.apiVersion);
    this.query = base.searchParams.size === 0 ? '' : `?${base.searchParams.toString()}`;
    // Calls have deadlines of their own (`timeoutMs`), and as many connections as there are calls.
    this.pool = new Pool(base.origin, {
      headersTimeout: 0,
      bodyTimeout: silenceMs,
      connectTimeout: 10_000,
      keepAliveTimeout: 10_000,
    });
    this.headers = [
      'user-agent',
      'agent-platform',
      ...(key === undefined
        ? []
        : description.kind === 'azure'
          ? ['api-key', key]
          : ['authorization', `Bearer ${key}`]),
    ];
  }

  breaker(kind: ModelKind): CircuitBreaker {
    let breaker = this.breakers.get(kind);
    if (breaker === undefined) this.breakers.set(kind, (breaker = new CircuitBreaker()));
    return breaker;
  }

  /** That of the kind of model that fails most. */
  get circuit(): CircuitState {
    const states = [...this.breakers.values()].map(({ state }) => state);
    return (['open', 'half-open'] as const).find((state) => states.includes(state)) ?? 'closed';
  }

  send(model: ModelDescription, operation: Operation, body: UpstreamBody): Exchange {
    const exchange = new Exchange();
    const { type, bytes } = typeof body === 'string' ? { type: 'application/json', bytes: body } : body;
    this.pool.dispatch(
      {
        method: 'POST',
        path: this.pathOf(model, operation),
        headers: ['content-type', type, ...this.headers],
        body: bytes,
      },
      exchange,
    );
    return exchange;
  }

  /** Lets running calls end, and takes no more. */
  async close(): Promise<void> {
    await this.pool.close();
  }

  private pathOf(model: ModelDescription, operation: Operation): string {
    const deployment =
      this.description.kind === 'azure' ? `/openai/deployments/${encodeURIComponent(model.modelId)}` : '';
    return `${this.basePath}${deployment}/${operation}${this.query}`;
  }
}
