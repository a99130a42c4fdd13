import { EXIT, Failure, Unreadable } from './exit-codes';
import { serverSentEvents, type ServerSentEvent } from './server-sent-events';

/** Default timeout of an answer, milliseconds. It does not apply to streams. */
const ANSWER_WITHIN_MS = 30_000;

/** The problem document of a rejected request. */
export class Rejected extends Failure {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly facts: Readonly<Record<string, unknown>>,
    detail: string,
  ) {
    super(detail);
  }
}

export interface Ask {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON, or as it is when it is a form. */
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the answer may take, milliseconds. */
  readonly withinMs?: number;
}

/** The public HTTP API, as any client sees it. */
export class PlatformClient {
  constructor(
    readonly url: string,
    private readonly apiKey: string | undefined,
  ) {}

  /** The JSON of an answer. Throws `Rejected` for a problem document, `Failure` if nothing answers. */
  async json<T>(path: string, ask: Ask = {}): Promise<T> {
    const response = await this.send(path, ask, AbortSignal.timeout(ask.withinMs ?? ANSWER_WITHIN_MS));
    return (response.status === 204 ? undefined : await this.whole(response)) as T;
  }

  /** The events of a stream, until it ends or the caller leaves the loop. */
  async *events(path: string, ask: Ask = {}): AsyncGenerator<ServerSentEvent> {
    const abort = new AbortController();
    const response = await this.send(
      path,
      { ...ask, headers: { accept: 'text/event-stream', ...ask.headers } },
      abort.signal,
    );
    try {
      if (response.body !== null) yield* serverSentEvents(response.body);
    } finally {
      abort.abort();
    }
  }

  /** Every item of a paged list, page by page. */
  async *list<T>(path: string, query: Ask['query'] = {}): AsyncGenerator<T> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: { items: T[]; nextCursor: string | null } = await this.json(path, {
        query: { limit: 100, ...query, cursor },
      });
      yield* page.items;
      cursor = page.nextCursor;
    }
  }

  private async send(
    path: string,
    { method = 'GET', body, query = {}, headers = {} }: Ask,
    signal: AbortSignal,
  ): Promise<Response> {
    if (this.apiKey === undefined)
      throw new Failure('Set an API key: PLATFORM_API_KEY, or --api-key KEY.', EXIT.wrongUsage);
    const url = new URL(path, `${this.url}/`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const form = body instanceof FormData;
    const response = await this.reach(url, {
      method,
      signal,
      headers: {
        'x-api-key': this.apiKey,
        ...(body === undefined || form ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
    });
    if (!response.ok) throw await this.rejection(response);
    return response;
  }

  private async whole(response: Response): Promise<unknown> {
    try {
      return await response.json();
    } catch (error) {
      throw this.unreachable(error);
    }
  }

  private async reach(url: URL, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (error) {
      throw this.unreachable(error);
    }
  }

  private unreachable(error: unknown): Failure {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const {
      code,
      message = String(cause),
      name,
    } = cause as { readonly code?: string; readonly message?: string; readonly name?: string };
    if (name === 'TimeoutError')
      return new Failure(`${this.url} did not answer in time. It may be busy. Try again, or check its log.`);
    if (name === 'NotReadableError') return new Unreadable('The file was written to while it was sent. Send it again.');
    if (name === 'SyntaxError')
      return new Failure(`${this.url} is not an Agent Platform. Set its address with --url or PLATFORM_URL.`);
    return new Failure(
      `${this.url} does not answer (${code ?? message}). Start the product, or set its address with --url or PLATFORM_URL.`,
    );
  }

  private async rejection(response: Response): Promise<Rejected> {
    const problem = problemOf(await response.text().catch(() => ''));
    const { code, detail } = problem;
    if (typeof code !== 'string')
      return new Rejected(
        response.status,
        'unknown_server',
        problem,
        `${this.url} is not an Agent Platform. Set its address with --url or PLATFORM_URL.`,
      );
    if (code === 'unauthenticated')
      return new Rejected(
        response.status,
        code,
        problem,
        `${this.url} rejected the API key: it is wrong, revoked or expired. Set another with PLATFORM_API_KEY or --api-key.`,
      );
    const id = response.headers.get('x-request-id');
    return new Rejected(
      response.status,
      code,
      problem,
      `${String(detail ?? problem['title'] ?? code)} (${code}${id === null ? '' : `, request ${id}`})`,
    );
  }
}

/** A proxy in between may answer something other than a problem document. */
const problemOf = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};
