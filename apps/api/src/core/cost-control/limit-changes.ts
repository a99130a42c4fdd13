import { Access, type Caller, KeyGrants } from '@app/access';
import { agentDecider } from '@app/agents';
import { type IssuedApiKey, UpdateApiKey, type UsageLimit } from '@app/identity';
import { type CommandMeta, CONFIG, type Config, Decisions, type Receipt, reject } from '@app/kernel';
import { spaceDecider } from '@app/spaces';
import {
  CreateLimit,
  type AppliedLimit,
  Ledger,
  UpdateLimit,
  type LimitScope,
  type LimitTerms,
  DeleteLimit,
} from '@app/spending';
import { Inject, Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { z } from 'zod';
import type { newLimit } from './cost-control-schemas';

type Change = Partial<Omit<LimitTerms, 'currency'>>;

/** Sets, changes and removes limits where they stand: those of API keys in the key, all others in the register. */
@Injectable()
export class LimitChanges {
  constructor(
    private readonly commands: CommandBus,
    private readonly decisions: Decisions,
    private readonly access: Access,
    private readonly keys: KeyGrants,
    private readonly ledger: Ledger,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Rejects `not_found` for a scope that is not there, `agent_not_granted` for an Agent outside the key's grants, and
   * `conflict` for a key that has a limit.
   */
  async add(
    caller: Caller,
    { scope, timeZone, ...given }: z.output<typeof newLimit>,
    meta: CommandMeta,
  ): Promise<{ readonly limitId: string; readonly receipt: Receipt }> {
    if (scope.type === 'apiKey' && scope.id !== null)
      return {
        limitId: scope.id,
        receipt: await this.addToKey(
          caller,
          scope.id,
          { ...given, ...(timeZone === undefined ? {} : { timeZone }) },
          meta,
        ),
      };
    await this.assertScope(caller, scope);
    const { DEFAULT_CURRENCY: currency, DEFAULT_TIME_ZONE } = this.config;
    return this.commands.execute(
      new CreateLimit(scope, { ...given, currency, timeZone: timeZone ?? DEFAULT_TIME_ZONE }, meta),
    );
  }

  /** Rejects `conflict` for amounts of a limit in another currency than the platform's. */
  async change(caller: Caller, limit: AppliedLimit, change: Change, meta: CommandMeta): Promise<Receipt> {
    if (change.amount !== undefined || change.includedAmount !== undefined) {
      const { currency } = await this.ledger.state(limit);
      if (currency !== this.config.DEFAULT_CURRENCY) reject('conflict', { reason: 'limit_of_other_currency' });
    }
    if (limit.scope.type !== 'apiKey') return this.commands.execute(new UpdateLimit(limit.id, change, meta));
    const changed = ({ usageLimit }: IssuedApiKey): UsageLimit =>
      usageLimit === null ? reject('not_found', { kind: 'limit', id: limit.id }) : { ...usageLimit, ...change };
    return this.setOfKey(caller, limit.id, changed, meta);
  }

  remove(caller: Caller, { id, scope }: AppliedLimit, meta: CommandMeta): Promise<Receipt> {
    return scope.type === 'apiKey'
      ? this.setOfKey(caller, id, () => null, meta)
      : this.commands.execute(new DeleteLimit(id, meta));
  }

  private addToKey(caller: Caller, keyId: string, limit: UsageLimit, meta: CommandMeta): Promise<Receipt> {
    const added = ({ usageLimit }: IssuedApiKey): UsageLimit =>
      usageLimit === null ? limit : reject('conflict', { reason: 'limit_exists', limitId: keyId });
    return this.setOfKey(caller, keyId, added, meta);
  }

  private async setOfKey(
    caller: Caller,
    keyId: string,
    limitOf: (key: IssuedApiKey) => UsageLimit | null,
    meta: CommandMeta,
  ): Promise<Receipt> {
    const change = await this.keys.changing(caller, keyId, (key) => ({ usageLimit: limitOf(key) }));
    return this.commands.execute(new UpdateApiKey(keyId, change, meta));
  }

  private async assertScope(caller: Caller, { type, id }: LimitScope): Promise<void> {
    if (id === null) return;
    if (type === 'agent' && !caller.allAgents && !caller.agentIds.has(id))
      reject('agent_not_granted', { kind: type, id, path: 'scope.id' });
    if (type === 'user') return this.access.assertUser(id);
    const { state } =
      type === 'space' ? await this.decisions.load(spaceDecider, id) : await this.decisions.load(agentDecider, id);
    if (state.status !== 'present') reject('not_found', { kind: type, id, path: 'scope.id' });
  }
}
