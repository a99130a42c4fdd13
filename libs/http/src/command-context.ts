import type { Caller } from '@app/access';
import { type Clock, CLOCK, type CommandMeta, type Ids, IDS, reject } from '@app/kernel';
import { createParamDecorator, type ExecutionContext, Inject, Injectable, type PipeTransform } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { InvalidInput } from './invalid-input';
import { correlationIdOf } from './request';

/** Injects the caller that the guard admitted. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller =>
  callerOf(context.getArgByIndex(0)),
);

/** What `@CommandContext()` asks `CommandMetaPipe` for. */
interface AskedMeta {
  readonly request: FastifyRequest;
  readonly hasEtag: boolean;
}

const metaOf = createParamDecorator((hasEtag: boolean, context: ExecutionContext): AskedMeta => ({
  request: context.getArgByIndex(0),
  hasEtag,
}));

/**
 * Injects the metadata of this request's command: identity, actor, `If-Match`, request id. `hasEtag: false` for a write to
 * several things, or to none that has an etag: rejects `If-Match` with `precondition_failed`, as no etag holds.
 */
export const CommandContext = ({ hasEtag = true }: { readonly hasEtag?: boolean } = {}): ParameterDecorator =>
  metaOf(hasEtag, CommandMetaPipe);

/** Makes the metadata of commands. */
@Injectable()
export class CommandMetas {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  /** Metadata of the command of a request whose caller is known. */
  of(request: FastifyRequest): CommandMeta {
    const caller = callerOf(request);
    const { acceptance } = request;
    const ifRevision = revisionOf(request.headers['if-match']);
    return {
      commandId: acceptance?.commandId ?? this.ids.next(),
      ...(acceptance === null ? {} : { commandHash: acceptance.hash }),
      actor: caller.actor,
      ...(caller.onBehalfOf === undefined ? {} : { onBehalfOf: caller.onBehalfOf }),
      requestId: request.id,
      correlationId: correlationIdOf(request),
      now: this.clock.now(),
      progress: (request.progress ??= { hasWritten: false }),
      ...(ifRevision === undefined ? {} : { ifRevision }),
    };
  }
}

/** What `@CommandContext()` injects. A pipe, since Nest injects services into pipes, and nothing into the functions of parameter decorators. */
@Injectable()
export class CommandMetaPipe implements PipeTransform<AskedMeta, CommandMeta> {
  constructor(private readonly metas: CommandMetas) {}

  transform({ request, hasEtag }: AskedMeta): CommandMeta {
    const meta = this.metas.of(request);
    return hasEtag || meta.ifRevision === undefined ? meta : reject('precondition_failed', { reason: 'no_etag' });
  }
}

const callerOf = (request: FastifyRequest): Caller => request.caller ?? reject('unauthenticated');

const ETAG = /^"(0|[1-9]\d{0,14})"$/;
/** A well-formed etag (RFC 9110, 8.8.3) that is not one of ours. */
const FOREIGN_ETAG = /^(?:W\/)?"[!#-~\u0080-\u00ff]*"$/;

/** Reads the expected revision from `If-Match`; `*` only requires existence. Rejects with `precondition_failed` for an etag of no revision. */
const revisionOf = (header: string | undefined): number | undefined => {
  const given = header?.trim();
  if (given === undefined || given === '*') return undefined;
  const revision = ETAG.exec(given)?.[1];
  if (revision !== undefined) return Number(revision);
  if (FOREIGN_ETAG.test(given)) return reject('precondition_failed');
  throw new InvalidInput('invalid_parameter', [
    { path: 'If-Match', code: 'invalid_format', message: 'Must be an etag of this API, such as "3".' },
  ]);
};
