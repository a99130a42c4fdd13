import { join } from 'node:path';
import type { ChatModels } from '@app/agents';
import { ForeignAccount } from '@app/auditing';
import { type EventMac, eventMacOf } from '@app/event-log';
import {
  CatalogueReloads,
  conversationWork,
  type ConversationWork,
  demandWhole,
  erasureWork,
  INSTANCE_SECRET,
  knowledgeWork,
  type KnowledgeWork,
  openLog,
  openStores,
  projections,
  rebuildWorkers,
  relayWork,
  restatingWork,
  type RestatingWork,
  spendingWork,
  type SpendingWork,
  type Stores,
  tenancyPolicies,
  UnfinishedWork,
} from '@app/hosting';
import {
  type Clock,
  type Config,
  demandFolder,
  type Ids,
  InstanceSecret,
  mayShare,
  patiently,
  systemClock,
  TimeOrderedIds,
} from '@app/kernel';
import { Models } from '@app/models';
import { Leases, Processes } from '@app/coordination';
import { Policies, Projecting } from '@app/projecting';
import type { Relay } from '@app/relay';
import { Reservations } from '@app/reservations';
import { lastSigner, SealArchive, SealedOrdinals, type SealKey, sealKeyOf, Sealer } from '@app/sealing';
import { Metrics, type Tracing, startTracing } from '@app/telemetry';
import { loadOrMakeKey } from '@app/vault';
import type { Logger } from 'pino';
import { productVersion } from './docs/version';
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
  /** Undefined for a process that is alone. */
  readonly catalogueReloads: CatalogueReloads | undefined;
  readonly reservations: Reservations;
  /** Who else is there, and who does what. */
  readonly leases: Leases;
  readonly projecting: Projecting;
  readonly policies: Policies;
  readonly knowledge: KnowledgeWork;
  readonly conversations: ConversationWork;
  readonly spending: SpendingWork;
  readonly restating: RestatingWork;
  readonly unfinished: UnfinishedWork;
  readonly sealKey: SealKey;
  readonly mac: EventMac;
  readonly sealArchive: SealArchive;
  readonly ordinals: SealedOrdinals;
  readonly sealer: Sealer;
  /** Undefined where nobody else can write to the log. */
  readonly foreignAccount: ForeignAccount | undefined;
  /** Undefined where no brokers are configured. */
  readonly relay: Relay | undefined;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly logger: Logger;
}

/** Opens the stores and prepares what works on them; nothing runs yet. */
export const openHost = async (config: Config, environment: Environment, logger: Logger): Promise<Host> => {
  const tracing = await startTracing(config.OTEL_EXPORTER_OTLP_ENDPOINT, config.OTEL_SERVICE_NAME);
  const clock = systemClock;
  if (!mayShare(config)) demandFolder('DATA_DIR', config.DATA_DIR);
  const log = await openLog(config);
  const warn = (sentence: string): void => logger.warn(sentence);
  const head = config.EVENTSTORE_URL === undefined ? await log.head() : await patiently(() => log.head(), { warn });
  const keys = { folder: join(config.DATA_DIR, 'keys'), inUse: head !== null, warn };
  const vaultKey = loadOrMakeKey({ ...keys, name: 'VAULT_KEY', given: config.VAULT_KEY });
  const sealSecret = loadOrMakeKey({ ...keys, name: 'SEAL_KEY', given: config.SEAL_KEY });
  const sealKey = sealKeyOf(sealSecret);
  const mac = eventMacOf(sealSecret);
  const models = Models.open(config, environment);
  observeModels(models);
  const metrics = new Metrics();
  const stores = await openStores(config, log, { vaultKey, mac }, clock, warn);
  await patiently(() => demandWhole(stores), { warn });
  const signer = await patiently(() => lastSigner(log), { warn });
  if (signer !== undefined && signer !== sealKey.keyId)
    logger.error(
      { signer, keyId: sealKey.keyId },
      'SEAL_KEY differs from the key of the last seal. Processes with different keys do not seal the events of each other.',
    );
  observeStores(stores, metrics);
  const sealArchive = new SealArchive(stores.log);
  const ordinals = new SealedOrdinals(stores.log, sealArchive);
  const spawn = rebuildWorkers({ config, vaultKey });
  const ids = new TimeOrderedIds();
  const beside = { store: stores.coordination, clock, logger };
  const processes = new Processes({
    ...beside,
    id: ids.next(),
    roles: config.ROLES,
    version: productVersion,
    alone: !mayShare(config),
  });
  const catalogueReloads = processes.alone
    ? undefined
    : new CatalogueReloads({ ...stores, models, after: head, logger });
  const leases = new Leases({ ...beside, processes });
  const projecting = new Projecting({
    ...stores,
    projections: observeProjections(projections),
    ordinals,
    spawn,
    leases,
    clock,
    logger,
  });
  const secret = new InstanceSecret(await patiently(() => stores.vault.ensureKey(INSTANCE_SECRET, {}), { warn }));
  const reservations = new Reservations(stores.decisions, secret, ids);
  const chatModels = chatModelsOf(models);
  const reactions = tenancyPolicies({ stores, projecting, reservations, models: chatModels, clock });
  const workParts = { stores, projecting, models, ids, clock, roles: config.ROLES, logger };
  const spending = spendingWork({ ...workParts, processes, config });
  const knowledge = knowledgeWork({ ...workParts, metering: spending.ledger });
  const conversations = conversationWork({
    ...workParts,
    retrieval: knowledge.retrieval,
    currency: config.DEFAULT_CURRENCY,
    metering: spending.ledger,
  });
  const restating = restatingWork(workParts);
  const unfinished = new UnfinishedWork([conversations.unfinished, knowledge.unfinished, restating.unfinished], logger);
  const relay = relayWork(config, { stores, clock, logger });
  const policies = new Policies({
    ...stores,
    policies: [...reactions, ...knowledge.policies, ...conversations.policies, erasureWork(workParts)],
    readers: relay === undefined ? [] : [relay],
    ordinals,
    leases,
    clock,
    logger,
  });
  const sealer = new Sealer({ ...stores, key: sealKey, mac, clock, logger });
  const foreignAccount = stores.log.isShared === true ? new ForeignAccount({ ...stores, logger }) : undefined;
  return {
    config,
    clock,
    ids,
    secret,
    stores,
    models,
    chatModels,
    catalogueReloads,
    reservations,
    leases,
    projecting,
    policies,
    knowledge,
    conversations,
    spending,
    restating,
    unfinished,
    sealKey,
    mac,
    sealArchive,
    ordinals,
    sealer,
    foreignAccount,
    relay,
    metrics,
    tracing,
    logger,
  };
};

/** Asked of the catalogue each time, since it may be read again. */
const chatModelsOf = (models: Models): ChatModels => ({
  get defaultModel() {
    return models.catalogue.defaultModel;
  },
  isChatModel: (key) => models.catalogue.models.get(key)?.kind === 'chat',
});
