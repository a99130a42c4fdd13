import { canonicalJson, type Decider, never, reject } from '@app/kernel';
import { Map as PersistentMap } from 'immutable';
import type { LimitEvent, LimitScope, LimitTerms } from './limit.events';

/** A spend limit as it stands. */
export interface Limit extends LimitTerms {
  readonly id: string;
  readonly scope: LimitScope;
}

/** A limit of the register. */
export interface RegisteredLimit extends Limit {
  /** Revision of the register when the limit was changed last: a limit's own, for `If-Match`. */
  readonly revision: number;
}

/** All limits but those of API keys, by what they are for (`scopeKey`) and by id. */
export interface LimitRegister {
  readonly byScope: PersistentMap<string, readonly RegisteredLimit[]>;
  readonly byId: PersistentMap<string, RegisteredLimit>;
}

/** `Change`: terms absent stay. */
export type LimitCommand =
  | ({ readonly type: 'Create'; readonly scope: LimitScope } & Named & LimitTerms)
  | ({ readonly type: 'Update' } & Named & Expecting & Partial<LimitTerms>)
  | ({ readonly type: 'Delete' } & Named & Expecting);

interface Named {
  readonly limitId: string;
}

interface Expecting {
  readonly ifRevision?: number;
}

/** The register of the instance. */
export const REGISTER = 'instance';

export const scopeKey = ({ type, id }: LimitScope): string => `${type}/${id ?? ''}`;

/**
 * The limits of the instance share one stream, so folding it shows all limits of a call. Rejects `not_found` and
 * `precondition_failed`.
 */
export const limitRegisterDecider: Decider<LimitRegister, LimitCommand, LimitEvent> = {
  category: 'limitRegister',
  initial: { byScope: PersistentMap(), byId: PersistentMap() },

  decide: (command, { byId }) => {
    const state = byId.get(command.limitId);
    switch (command.type) {
      case 'Create': {
        const { type: _, ...data } = command;
        return state === undefined ? [{ type: 'SpendLimitSet', data }] : [];
      }
      case 'Update': {
        const { type: _, limitId, ifRevision, ...change } = command;
        if (state === undefined) return reject('not_found', { kind: 'limit', id: limitId });
        rejectOther(ifRevision, state);
        const { id: _id, scope, revision: _revision, ...before } = state;
        const terms = { ...before, ...change };
        return canonicalJson(before) === canonicalJson(terms)
          ? []
          : [{ type: 'SpendLimitSet', data: { limitId, scope, ...terms } }];
      }
      case 'Delete':
        if (state === undefined) return [];
        rejectOther(command.ifRevision, state);
        return [{ type: 'SpendLimitRemoved', data: { limitId: command.limitId } }];
      default:
        return never(command);
    }
  },

  evolve: ({ byScope, byId }, { type, data, context: { revision } }) => {
    const before = byId.get(data.limitId);
    const scope = type === 'SpendLimitSet' ? data.scope : before?.scope;
    if (scope === undefined) return { byScope, byId };
    const others = (byScope.get(scopeKey(scope)) ?? []).filter(({ id }) => id !== data.limitId);
    if (type === 'SpendLimitRemoved')
      return { byScope: byScope.set(scopeKey(scope), others), byId: byId.delete(data.limitId) };
    const { limitId: id, ...terms } = data;
    const limit = { id, ...terms, revision };
    return { byScope: byScope.set(scopeKey(scope), [...others, limit]), byId: byId.set(id, limit) };
  },
};

const rejectOther = (expected: number | undefined, { revision }: RegisteredLimit): void => {
  if (expected !== undefined && expected !== revision) reject('precondition_failed', { expected, actual: revision });
};
