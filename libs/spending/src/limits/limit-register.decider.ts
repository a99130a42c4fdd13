import { canonicalJson, type Decider, never, refuse } from '@app/kernel';
import type { LimitEvent, LimitScope, LimitTerms } from './limit.events';

/** A spend limit as it stands. */
export interface Limit extends LimitTerms {
  readonly id: string;
  readonly scope: LimitScope;
}

/** All limits but those of API keys, by what they are for (`scopeKey`) and by id. */
export interface LimitRegister {
  readonly byScope: ReadonlyMap<string, readonly Limit[]>;
  readonly byId: ReadonlyMap<string, Limit>;
}

/** `Change`: terms absent stay. */
export type LimitCommand = ({ readonly type: 'Add'; readonly scope: LimitScope } & Named & LimitTerms) | ({ readonly type: 'Change' } & Named & Partial<LimitTerms>) | ({ readonly type: 'Remove' } & Named);

interface Named {
  readonly limitId: string;
}

/** The register of the instance. */
export const REGISTER = 'instance';

export const scopeKey = ({ type, id }: LimitScope): string => `${type}/${id ?? ''}`;

/** The limits of the instance share one stream: what concerns a call is known by folding this one alone. */
export const limitRegisterDecider: Decider<LimitRegister, LimitCommand, LimitEvent> = {
  category: 'limitRegister',
  initial: { byScope: new Map(), byId: new Map() },

  decide: (command, { byId }) => {
    const standing = byId.get(command.limitId);
    switch (command.type) {
      case 'Add': {
        const { type: _, ...data } = command;
        return standing === undefined ? [{ type: 'SpendLimitSet', data }] : [];
      }
      case 'Change': {
        const { type: _, limitId, ...change } = command;
        if (standing === undefined) return refuse('not_found');
        const { id: _id, scope, ...before } = standing;
        const terms = { ...before, ...change };
        return canonicalJson(before) === canonicalJson(terms) ? [] : [{ type: 'SpendLimitSet', data: { limitId, scope, ...terms } }];
      }
      case 'Remove':
        return standing === undefined ? [] : [{ type: 'SpendLimitRemoved', data: { limitId: command.limitId } }];
      default:
        return never(command);
    }
  },

  evolve: ({ byScope, byId }, { type, data }) => {
    const before = byId.get(data.limitId);
    const scope = type === 'SpendLimitSet' ? data.scope : before?.scope;
    if (scope === undefined) return { byScope, byId };
    const limits = new Map(byId);
    const others = (byScope.get(scopeKey(scope)) ?? []).filter(({ id }) => id !== data.limitId);
    if (type === 'SpendLimitRemoved') {
      limits.delete(data.limitId);
      return { byScope: new Map(byScope).set(scopeKey(scope), others), byId: limits };
    }
    const { limitId: id, ...terms } = data;
    const limit = { id, ...terms };
    return { byScope: new Map(byScope).set(scopeKey(scope), [...others, limit]), byId: limits.set(id, limit) };
  },
};
