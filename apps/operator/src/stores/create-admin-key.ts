import 'reflect-metadata';
import { hostname, userInfo } from 'node:os';
import { operatorActions } from '@app/auditing';
import { CoreModule, type ProcessOptions, StoresModule } from '@app/hosting';
import { AdminRegister, CreateApiKey, CreateApiKeyHandler, EVERYTHING } from '@app/identity';
import {
  type CommandMeta,
  type Config,
  Decisions,
  deriveId,
  nameSchema,
  productVersion,
  readEnvironment,
  Resources,
  stepOf,
  systemClock,
  TimeOrderedIds,
} from '@app/kernel';
import { type DynamicModule, type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import pino from 'pino';
import { EXIT, Failure } from '../exit-codes';
import type { Output } from '../output';
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
  for (const name of ['VAULT_KEY', 'SEAL_KEY'] as const) instanceKey(config, name);
  const { userId, keyId, secret } = await orFailure(inStores(config, output, (app) => made(app, given, user)));
  output.result({ userId, keyId, secret }, () => [
    `API key, shown only once: ${secret}`,
    `It belongs to the admin ${userId}, has every permission and no limit, and does not expire. The log records who made it and why (AdminKeyRequested). Revoke it when you have another.`,
  ]);
};

/** The stores and what makes a key in them, and no more of the platform: no view, policy or broker has to be well for it. */
@Module({})
class AdminKeyModule {
  static forRoot(options: ProcessOptions): DynamicModule {
    return {
      module: AdminKeyModule,
      imports: [CoreModule.forRoot(options), StoresModule],
      providers: [AdminRegister, CreateApiKeyHandler],
    };
  }
}

/** Does work in an application context over the stores, which are closed afterwards. */
const inStores = async <T>(
  // Of no use here, so a mistake in it is none either.
  { MODELS_FILE: _models, ...config }: Config,
  { note }: Output,
  work: (app: INestApplicationContext) => Promise<T>,
): Promise<T> => {
  const resources = new Resources();
  const noted = { write: (line: string) => note((JSON.parse(line) as { msg: string }).msg) };
  const logger = pino({ level: 'warn' }, noted);
  const options = { config, environment: readEnvironment(), logger, resources, version: productVersion };
  try {
    return await work(
      await NestFactory.createApplicationContext(AdminKeyModule.forRoot(options), {
        logger: false,
        abortOnError: false,
      }),
    );
  } finally {
    await resources.close();
  }
};

const made = async (
  app: INestApplicationContext,
  given: { readonly by: string; readonly reason: string },
  user: string | undefined,
) => {
  const decisions = app.get(Decisions);
  const admins = await app.get(AdminRegister).active();
  const userId = user ?? admins[0];
  if (userId === undefined) throw new Failure('There is no admin yet. Start the product: it creates the first one.');
  if (!admins.includes(userId))
    throw new Failure(`User ${userId} is not an active admin. Active admins: ${admins.join(', ')}.`, EXIT.wrongUsage);
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
  // Asked itself: without the platform there is no command bus.
  const { secret } = await app
    .get(CreateApiKeyHandler)
    .execute(new CreateApiKey(userId, { name: NAME, ...EVERYTHING }, step));
  return { userId, keyId, secret };
};

const checked = (option: string, text: string): string => {
  const name = nameSchema().safeParse(text);
  if (!name.success)
    throw new Failure(`${option} must be a text of 1 to 200 characters without control characters.`, EXIT.wrongUsage);
  return name.data;
};
