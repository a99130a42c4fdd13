import { canonicalJson, equalSecrets, InstanceSecret, Unavailable } from '@app/kernel';
import { Inject, Injectable, type OnModuleDestroy, StreamableFile } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Agent, type Dispatcher } from 'undici';

/** Where a request is handled: in this process, or in one at an address. */
export type Place = 'here' | URL;

/**
 * Says where a request is handled, or undefined if its target is not transient. Rejects if that process cannot be
 * reached.
 */
export type PlaceOf = (request: FastifyRequest) => Promise<Place> | undefined;

/** Proves that another process of this instance forwards a request. */
const SIGNATURE = 'x-process-signature';
/** What goes with a request that is forwarded: who asks, and how. The process that has the conversation checks access itself. */
const FORWARDED = ['x-api-key', 'cookie', 'accept', 'content-type', 'idempotency-key', 'if-match', 'last-event-id'];
/** What comes back beside the status and the body. */
const ANSWERED = ['content-type', 'etag', 'retry-after', 'x-vercel-ai-ui-message-stream', 'x-accel-buffering', 'allow'];
const CONNECT_MS = 3_000;

declare module 'fastify' {
  interface FastifyRequest {
    /** For something that is in the memory of one process alone: nothing of the request is kept. */
    isTransient: boolean;
  }
}

/**
 * Forwards requests for data in the memory of another process, such as an incognito conversation. Nothing of them is
 * stored. They keep their credential, so no process is trusted to speak for a caller. A signature under the instance
 * secret marks a request as forwarded, and counted, already; such a request is not forwarded again. Without a valid
 * signature the header is ignored.
 */
@Injectable()
export class TransientRequests implements OnModuleDestroy {
  private source: PlaceOf = () => undefined;
  /** An answer may take as long as a model does. */
  private readonly agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_MS } });

  constructor(@Inject(InstanceSecret) private readonly secret: Pick<InstanceSecret, 'hash'>) {}

  /** What knows which requests are for something transient. */
  register(source: PlaceOf): void {
    this.source = source;
  }

  placeOf(request: FastifyRequest): Promise<Place> | undefined {
    return this.source(request);
  }

  isForwarded(request: FastifyRequest): boolean {
    const given = request.headers[SIGNATURE];
    return typeof given === 'string' && equalSecrets(given, this.signature(request));
  }

  /** Has another process answer: sets status and headers, and answers the body. Throws `Unavailable` where it cannot be reached. */
  async forward(request: FastifyRequest, reply: FastifyReply, to: URL): Promise<StreamableFile | undefined> {
    const left = new AbortController();
    reply.raw.once('close', () => left.abort());
    const answer = await this.agent
      .request({
        origin: to.origin,
        path: request.url,
        method: request.method as Dispatcher.HttpMethod,
        headers: {
          ...Object.fromEntries(
            FORWARDED.flatMap((name) =>
              request.headers[name] === undefined ? [] : [[name, String(request.headers[name])]],
            ),
          ),
          'x-request-id': request.id,
          [SIGNATURE]: this.signature(request),
        },
        body: request.body === undefined || request.body === null ? null : JSON.stringify(request.body),
        signal: left.signal,
      })
      .catch((error: unknown) => {
        if (left.signal.aborted) throw error;
        const { code } = error as { code?: unknown };
        const isUnsent = code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ENOTFOUND';
        // The error of the client may hold what was sent.
        throw new Unavailable('process', 'it does not answer', isUnsent ? 'none' : 'unknown');
      });
    for (const name of ANSWERED) {
      const value = answer.headers[name];
      if (value !== undefined) reply.header(name, value);
    }
    void reply.code(answer.statusCode);
    // An answer without a content type has no body, and `StreamableFile` would say one.
    if (answer.headers['content-type'] === undefined) {
      answer.body.resume();
      return undefined;
    }
    return new StreamableFile(answer.body);
  }

  async onModuleDestroy(): Promise<void> {
    await this.agent.destroy();
  }

  private signature({ id, method, url, headers }: FastifyRequest): string {
    const credential = headers['x-api-key'] ?? headers.cookie ?? null;
    return this.secret.hash('forwarded-request', canonicalJson([id, method, url, credential as string | null]));
  }
}
