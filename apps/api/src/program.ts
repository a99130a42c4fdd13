import { bootstrap } from '@app/identity';
import { CLOCK, type Clock, type Config, Decisions, type Ids, IDS, InstanceSecret } from '@app/kernel';
import { Models, recordCatalogue } from '@app/models';
import type { Program } from '@app/process';
import type { INestApplicationContext } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { AppModule } from './app.module';

/** What stands before the first request of the API: the first admin and their key, and the models and prices of this start. */
const prepare = async (
  app: INestApplicationContext,
  { ROLES, BOOTSTRAP_API_KEY }: Config,
  madeKey: (secret: string) => void,
): Promise<void> => {
  if (!ROLES.includes('api')) return;
  const system = {
    decisions: app.get(Decisions),
    commands: app.get(CommandBus),
    secret: app.get(InstanceSecret),
    clock: app.get<Clock>(CLOCK),
    ids: app.get<Ids>(IDS),
  };
  const { madeSecret } = await bootstrap(system, BOOTSTRAP_API_KEY);
  if (madeSecret !== undefined) madeKey(madeSecret);
  const commandId = system.ids.next();
  await recordCatalogue(system.decisions, app.get(Models).catalogue, {
    commandId,
    correlationId: commandId,
    actor: 'system:models',
    now: system.clock.now(),
  });
};

/** The whole platform: every role. */
export const api: Program = { name: 'apps/api', roles: ['api', 'projector', 'worker'], module: AppModule, prepare };
