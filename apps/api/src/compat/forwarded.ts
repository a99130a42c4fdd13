import type { Route } from '@app/models';
import { type Fields, given } from './checks';

/** The fields of a request that a provider's `forward` names and that are not `own`: those the gateway reads and says itself. */
export const forwarded = (body: Fields, { upstream }: Route, own: ReadonlySet<string>): Fields =>
  Object.fromEntries(
    upstream.description.forward.flatMap((name) =>
      Object.hasOwn(body, name) && given(body[name]) && !own.has(name) ? [[name, body[name]]] : [],
    ),
  );
