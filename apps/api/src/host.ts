import { hkdfSync } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ChatModels } from '@app/agents';
import { conversationWork, type ConversationWork, erasureWork, knowledgeWork, type KnowledgeWork, openStores, projections, rebuildWorkers, type Stores, tenancyPolicies } from '@app/hosting';
import { type Clock, type Config, type Ids, InstanceSecret, systemClock, TimeOrderedIds } from '@app/kernel';
import { Models } from '@app/models';
import { Policies, Projecting } from '@app/projecting';
import { Reservations } from '@app/reservations';
import { SealArchive, SealedOrdinals, type SealKey, sealKeyOf, Sealer } from '@app/sealing';
import { Metrics, type Tracing, startTracing } from '@app/telemetry';
import { loadOrMakeKey } from '@app/vault';
import type { Logger } from 'pino';
import type { Environment } from './environment';
import { observeModels, observeProjections, observeStores } from './monitoring/observed';

/** What a process of the platform stands on, before anybody can reach it. */
export interface Host {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secret: InstanceSecret;
  readonly stores: Stores;
  readonly models: Models;
  readonly chatModels: ChatModels;
  readonly reservations: Reservations;
  readonly projecting: Projecting;
  readonly policies: Policies;
  readonly knowledge: KnowledgeWork;
  readonly conversations: ConversationWork;
  readonly sealKey: SealKey;
  readonly sealArchive: SealArchive;
  readonly ordinals: SealedOrdinals;
  readonly sealer: Sealer;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly logger: Logger;
}

/** Opens the stores and prepares what works on them; nothing runs yet. */
export const openHost = async (config: Config, environment: Environment, logger: Logger): Promise<Host> => {
  const tracing = await startTracing(config.OTEL_EXPORTER_OTLP_ENDPOINT, config.OTEL_SERVICE_NAME);
  const clock = systemClock;
  const keys = { folder: join(config.DATA_DIR, 'keys'), inUse: holdsData(config.DATA_DIR), warn: (sentence: string) => logger.warn(sentence) };
  const vaultKey = loadOrMakeKey({ ...keys, name: 'VAULT_KEY', given: config.VAULT_KEY });
  const sealKey = sealKeyOf(loadOrMakeKey({ ...keys, name: 'SEAL_KEY', given: config.SEAL_KEY }));
  const models = Models.open(config, environment);
  observeModels(models);
  const metrics = new Metrics();
  const stores = await openStores(config, vaultKey, clock);
  observeStores(stores, metrics);
  const sealArchive = new SealArchive(stores.log);
  const ordinals = new SealedOrdinals(stores.log, sealArchive);
  const spawn = rebuildWorkers({ dataFolder: config.DATA_DIR, vaultKey });
  const projecting = new Projecting({ ...stores, projections: observeProjections(projections), ordinals, spawn, clock, logger });
  const ids = new TimeOrderedIds();
  const secret = instanceSecret(vaultKey);
  const reservations = new Reservations(stores.decisions, secret, ids);
  const chatModels = chatModelsOf(models);
  const reactions = tenancyPolicies({ stores, projecting, reservations, models: chatModels, clock });
  const workParts = { stores, projecting, models, ids, clock, logger };
  const knowledge = knowledgeWork(workParts);
  const conversations = conversationWork({ ...workParts, retrieval: knowledge.retrieval, currency: config.DEFAULT_CURRENCY });
  const policies = new Policies({ ...stores, policies: [...reactions, ...knowledge.policies, ...conversations.policies, erasureWork(workParts)], clock, logger });
  const sealer = new Sealer({ ...stores, key: sealKey, clock, logger });
  return { config, clock, ids, secret, stores, models, chatModels, reservations, projecting, policies, knowledge, conversations, sealKey, sealArchive, ordinals, sealer, metrics, tracing, logger };
};

/** True when a log was begun there, so that its keys exist somewhere. */
const holdsData = (dataFolder: string): boolean => existsSync(join(dataFolder, 'log')) && readdirSync(join(dataFolder, 'log')).length > 0;

/** Asked of the catalogue each time, since it may be read again. */
const chatModelsOf = (models: Models): ChatModels => ({
  get defaultModel() {
    return models.catalogue.defaultModel;
  },
  isChatModel: (key) => models.catalogue.models.get(key)?.kind === 'chat',
});

const instanceSecret = (vaultKey: string): InstanceSecret => new InstanceSecret(Buffer.from(hkdfSync('sha256', vaultKey, '', 'instance secret', 32)));
