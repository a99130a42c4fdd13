import type { RouteTable } from './route-table';

/** The answer to a request that matches no route. */
export interface Unrouted {
  readonly code: 'not_found' | 'method_not_allowed';
  /** Methods of the path; empty if the path does not exist. */
  readonly allowed: readonly string[];
  readonly detail: string;
}

/** Repeat a path in an answer up to this length. */
const LONGEST_PATH = 200;

const CORE = '/api/v1';
const GATEWAY = '/api/compat/v1';

/** Bases of routes, which people leave out. The gateway's is the one that its clients know. */
const BASES = [`${CORE}/core`, CORE, GATEWAY, '/api', ''];

/** Prefixes that clients add to the paths they know, or leave out. */
const PREFIXES: ReadonlySet<string> = new Set(['api', 'v1', 'core', 'compat', 'openai']);

/** Says that a path or method does not exist, and suggests the closest one. */
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

/** The existing path that ends like the requested one. */
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

/** Paths that clients of the gateway use below another base URL. */
const GATEWAY_TAIL = /\/(?:chat\/completions|completions|responses|embeddings|rerank|models)(?:\/[^/]*)?\/?$/;

/** True if an unknown path was meant for the gateway, whose clients read only envelopes. */
export const isMeantForGateway = (path: string): boolean => GATEWAY_TAIL.test(path) && !path.startsWith(`${CORE}/`);
