import { hostname, userInfo } from 'node:os';
import { operatorActions } from '@app/auditing';
import { eventMacOf } from '@app/event-log';
import { assertWhole, INSTANCE_SECRET, openLog, openStores, type Stores } from '@app/hosting';
import { AdminRegister, CreateApiKey, CreateApiKeyHandler, EVERYTHING } from '@app/identity';
import {
  type CommandMeta,
  deriveId,
  InstanceSecret,
  nameSchema,
  stepOf,
  systemClock,
  TimeOrderedIds,
} from '@app/kernel';
import { EXIT, Failure } from '../exit-codes';
import type { Verb } from '../session';
import { assertLog, instanceKey, orFailure, storesConfig } from './config';

export interface AdminKeyOptions {
  readonly reason: string;
  readonly by?: string;
  readonly user?: string;
}

const NAME = 'Made by an operator';

/** Recovery for operators who have the stores but no key. Whoever can write the stores can write anything, so only name and reason are required. */
export const createAdminKey: Verb<[AdminKeyOptions]> = async (
  { output },
  { reason, by = `${userInfo().username}@${hostname()}`, user },
) => {
  const given = { by: checked('--by', by), reason: checked('--reason', reason) };
  const config = storesConfig();
  assertLog(config);
  const keys = { vaultKey: instanceKey(config, 'VAULT_KEY'), mac: eventMacOf(instanceKey(config, 'SEAL_KEY')) };
  const stores = await orFailure(
    openLog(config).then((log) => openStores(config, log, keys, systemClock, output.note)),
  );
  try {
    await orFailure(assertWhole(stores));
    const { userId, keyId, secret } = await orFailure(made(stores, given, user));
    output.result({ userId, keyId, secret }, () => [
      `API key, shown only once: ${secret}`,
      `It belongs to the admin ${userId}, has every permission and no limit, and does not expire. The log records who made it and why (AdminKeyRequested). Revoke it when you have another.`,
    ]);
  } finally {
    await stores.close();
  }
};

const made = async (
  { decisions, vault }: Stores,
  given: { readonly by: string; readonly reason: string },
  user: string | undefined,
) => {
  const admins = await new AdminRegister(decisions).active();
  const userId = user ?? admins[0];
  if (userId === undefined) throw new Failure('There is no admin yet. Start the product: it creates the first one.');
  if (!admins.includes(userId))
    throw new Failure(`User ${userId} is not an active admin. Active admins: ${admins.join(', ')}.`, EXIT.wrongUsage);
  const instance = new InstanceSecret(await vault.ensureKey(INSTANCE_SECRET, {}));
  const commandId = new TimeOrderedIds().next();
  const meta: CommandMeta = { commandId, correlationId: commandId, actor: 'system:operator', now: systemClock.now() };
  const step = stepOf(meta, 'apiKey');
  const keyId = deriveId(step.commandId, 'apiKey');
  // Recorded before it is done, as every operator action.
  await decisions.transact(
    operatorActions,
    keyId,
    { type: 'AdminKeyRequested', data: { keyId, userId, ...given } },
    meta,
  );
  const { secret } = await new CreateApiKeyHandler(decisions, instance).execute(
    new CreateApiKey(userId, { name: NAME, ...EVERYTHING }, step),
  );
  return { userId, keyId, secret };
};

const checked = (option: string, text: string): string => {
  const name = nameSchema().safeParse(text);
  if (!name.success)
    throw new Failure(`${option} must be a text of 1 to 200 characters without control characters.`, EXIT.wrongUsage);
  return name.data;
};
