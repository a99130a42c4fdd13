import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import type { RouteDeclaration } from './route';

/** A route as it is served. */
export interface ServedRoute {
  readonly method: string;
  /** Pattern such as `/api/v1/core/agents/:agentId`. */
  readonly url: string;
  readonly declaration: RouteDeclaration;
}

/** Every route that is served, collected as they are registered. */
@Injectable()
export class RouteTable {
  readonly routes: ServedRoute[] = [];
  private readonly patterns = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();

  /** Collects the routes of an instance, from now on. Throws for one of an API that declares nothing: nobody could call it. */
  collect(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ method, url, config }) => {
      if (config?.route === undefined && url.startsWith('/api/'))
        throw new Error(
          `${[method].flat().join(', ')} ${url} declares nothing: put @Documented above its @Controller.`,
        );
      for (const one of [method].flat()) this.add({ method: one, url, declaration: config?.route ?? {} });
    });
  }

  /** The methods that a path takes; empty for a path that does not exist. A path without parameters goes before patterns that match it: `skills/import` is no Skill. */
  methodsOf(path: string): readonly string[] {
    const asked = withoutSlash(path);
    const methods = new Set<string>(this.patterns.get(asked)?.methods);
    if (methods.size > 0) return [...methods].toSorted();
    for (const entry of this.patterns.values())
      if (entry.pattern.test(asked)) for (const method of entry.methods) methods.add(method);
    return [...methods].toSorted();
  }

  /** True if this very path is a route, for some method. */
  has(path: string): boolean {
    return this.patterns.has(withoutSlash(path));
  }

  private add(route: ServedRoute): void {
    this.routes.push(route);
    const known = this.patterns.get(route.url);
    if (known !== undefined) known.methods.add(route.method);
    else this.patterns.set(route.url, { pattern: patternOf(route.url), methods: new Set([route.method]) });
  }
}

const withoutSlash = (path: string): string => path.replace(/(?<=.)\/$/, '');

const patternOf = (url: string): RegExp => {
  const escaped = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:[A-Za-z]\w*/g, '[^/]+').replace(/\*/g, '.*')}$`);
};
