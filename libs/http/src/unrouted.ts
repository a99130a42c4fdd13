import type { RouteTable } from './route-table';

/** What is said of a request that no route takes. */
export interface Unrouted {
  readonly code: 'not_found' | 'method_not_allowed';
  /** The methods that the path does take; empty for a path that does not exist. */
  readonly allowed: readonly string[];
  readonly detail: string;
}

/** Longest path of the caller's own that an answer repeats. */
const LONGEST_PATH = 200;

const CORE = '/api/v1';
const GATEWAY = '/api/compat/v1';

/** Where the routes that people leave the beginning out of are; those of the gateway go by the names that its clients know. */
const BASES = [`${CORE}/core`, CORE, GATEWAY, '/api', ''];

/** What clients put before the paths that they know, or leave out of them. */
const PREFIXES: ReadonlySet<string> = new Set(['api', 'v1', 'core', 'compat', 'openai']);

/** Says of a path or a method that there is none, and what was meant, where that can be seen. */
export const unrouted = (method: string, path: string, routes: RouteTable): Unrouted => {
  const allowed = routes.methodsOf(path);
  const shown = path.slice(0, LONGEST_PATH).toWellFormed();
  if (allowed.length > 0)
    return {
      code: 'method_not_allowed',
      allowed,
      detail: `${shown} does not take ${method}. It takes ${allowed.join(', ')}.`,
    };
  const meant = meantPath(path, routes);
  const advice =
    meant === undefined
      ? `The API is at ${CORE}, the gateway at ${GATEWAY}; /docs lists all paths.`
      : `Did you mean ${meant.slice(0, LONGEST_PATH).toWellFormed()}? ${baseOf(meant)}`;
  return { code: 'not_found', allowed, detail: `Nothing is at ${shown}. ${advice}` };
};

/** The path that exists, of those that end like the one that was asked for. */
const meantPath = (path: string, routes: RouteTable): string | undefined => {
  const segments = path.split('/').filter(Boolean);
  const first = segments.findIndex((segment) => !PREFIXES.has(segment));
  if (first === -1) return undefined;
  const rest = segments.slice(first).join('/');
  return BASES.map((base) => `${base}/${rest}`).find(
    (candidate) => candidate !== path && routes.methodsOf(candidate).length > 0,
  );
};

const baseOf = (path: string): string => {
  if (path.startsWith(`${GATEWAY}/`)) return `The base URL of the gateway ends with ${GATEWAY}.`;
  return path.startsWith(`${CORE}/`) ? `The base URL of the API ends with ${CORE}.` : 'All paths are listed at /docs.';
};

/** Paths that clients of the gateway know, below another base URL than its own. */
const GATEWAY_TAIL = /\/(?:chat\/completions|completions|responses|embeddings|rerank|models)(?:\/[^/]*)?\/?$/;

/** Whether a path that no route takes was meant for the gateway: its clients read envelopes alone. */
export const isMeantForGateway = (path: string): boolean => GATEWAY_TAIL.test(path) && !path.startsWith(`${CORE}/`);
