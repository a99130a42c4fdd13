import type { ApiResponseOptions } from '@nestjs/swagger';
import { errorRegistry, type ErrorEntry } from '../error-registry';
import type { RouteDeclaration } from '../route';
import { envelopeResponses, isCompatPath } from './error-envelope';

/** Errors of an operation: a problem per status, with its codes. The compatible API answers its envelope. */
export const errorResponses = (
  method: string,
  path: string,
  declaration: RouteDeclaration,
): readonly ApiResponseOptions[] =>
  (isCompatPath(path) ? envelopeResponses(method) : problemResponses(codesOf(method, path, declaration))).filter(
    ({ status }) => declaration.answers === undefined || !(Number(status) in declaration.answers),
  );

/** The codes that a route of this kind may always answer, and its own. Not those of the compatible API. */
export const codesOf = (method: string, path: string, declaration: RouteDeclaration): readonly string[] => {
  const write = method !== 'GET';
  const secured = declaration.requires !== 'public' && declaration.requires !== 'docs';
  return [
    'invalid_parameter',
    // A write that takes no body says so of one that was sent.
    ...(write ? ['invalid_body', 'unknown_field', 'request_timeout', 'too_large', 'unsupported_media_type'] : []),
    ...(declaration.query !== undefined && 'cursor' in declaration.query.shape ? ['invalid_cursor'] : []),
    ...(secured ? ['unauthenticated', 'forbidden', 'rate_limited'] : []),
    ...(path.includes(':') ? ['not_found'] : []),
    ...(path.includes(':agentId') ? ['agent_not_granted'] : []),
    ...(write && secured ? ['conflict', 'precondition_failed', 'idempotency_key_reused', 'request_in_progress'] : []),
    ...(declaration.reads?.length ? ['view_unavailable'] : []),
    ...(declaration.rejects ?? []),
    'internal',
    'log_damaged',
    'log_newer',
    'unavailable',
  ];
};

const problemResponses = (codes: readonly string[]): ApiResponseOptions[] => {
  const byStatus = new Map<number, string[]>();
  for (const code of new Set(codes)) {
    const { status } = (errorRegistry as Record<string, ErrorEntry>)[code] ?? unregistered(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus].map(([status, named]) => ({
    status,
    description: named.map((code) => `\`${code}\``).join(', '),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  }));
};

const unregistered = (code: string): never => {
  throw new Error(`the code ${code} is not in the error registry`);
};
