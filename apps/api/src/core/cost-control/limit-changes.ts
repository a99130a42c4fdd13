import { Access, type Caller, KeyScope } from '@app/access';
import { agentDecider } from '@app/agents';
import { UpdateApiKey, type UsageLimit } from '@app/identity';
import { type CommandMeta, CONFIG, type Config, Decisions, type Receipt, reject } from '@app/kernel';
import { spaceDecider } from '@app/spaces';
import {
  CreateLimit,
  type AppliedLimit,
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
    private readonly keys: KeyScope,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Rejects `not_found` for a scope that is not there, and `conflict` for a key that has a limit. */
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
    await this.assertScope(scope);
    const { DEFAULT_CURRENCY: currency, DEFAULT_TIME_ZONE } = this.config;
    return this.commands.execute(
      new CreateLimit(scope, { ...given, currency, timeZone: timeZone ?? DEFAULT_TIME_ZONE }, meta),
    );
  }

  async change(caller: Caller, limit: AppliedLimit, change: Change, meta: CommandMeta): Promise<Receipt> {
    if (limit.scope.type !== 'apiKey') return this.commands.execute(new UpdateLimit(limit.id, change, meta));
    const { amount, window, timeZone, action, includedAmount } = limit;
    return this.setOfKey(caller, limit.id, { amount, window, timeZone, action, includedAmount, ...change }, meta);
  }

  remove(caller: Caller, { id, scope }: AppliedLimit, meta: CommandMeta): Promise<Receipt> {
    return scope.type === 'apiKey'
      ? this.setOfKey(caller, id, null, meta)
      : this.commands.execute(new DeleteLimit(id, meta));
  }

  private async addToKey(caller: Caller, keyId: string, limit: UsageLimit, meta: CommandMeta): Promise<Receipt> {
    const { usageLimit } = await this.keys.key(caller, keyId);
    if (usageLimit !== null) return reject('conflict', { reason: 'limit_exists', limitId: keyId });
    return this.setOfKey(caller, keyId, limit, meta);
  }

  private async setOfKey(
    caller: Caller,
    keyId: string,
    usageLimit: UsageLimit | null,
    meta: CommandMeta,
  ): Promise<Receipt> {
    const key = await this.keys.key(caller, keyId);
    await this.keys.assert(caller, key.userId, { usageLimit }, key);
    return this.commands.execute(new UpdateApiKey(keyId, { usageLimit }, meta));
  }

  private async assertScope({ type, id }: LimitScope): Promise<void> {
    if (id === null) return;
    if (type === 'user') return this.access.assertUser(id);
    const { state } =
      type === 'space' ? await this.decisions.load(spaceDecider, id) : await this.decisions.load(agentDecider, id);
    if (state.status !== 'present') reject('not_found', { kind: type, id, path: 'scope.id' });
  }
}
