import { Access, Authenticator, KeyScope } from '@app/access';
import { CHAT_MODELS } from '@app/agents';
import { AuditLog, knownForeign } from '@app/auditing';
import { BLOBS } from '@app/blobs';
import { COORDINATION_STORE } from '@app/coordination';
import { EVENT_LOG } from '@app/event-log';
import { BlobSweep, eventCatalogue } from '@app/hosting';
import { Turns } from '@app/conversations';
import { AdminRegister, ApiKeyUse } from '@app/identity';
import { CLOCK, CONFIG, Decisions, EventCatalogue, EventCodec, IDS, InstanceSecret } from '@app/kernel';
import { Batches, Bodies, KnownTags, Retrieval } from '@app/knowledge';
import { Models } from '@app/models';
import { Policies, Projecting } from '@app/projecting';
import { READ_STORE } from '@app/read-store';
import { Reservations } from '@app/reservations';
import { knownUnproven, SealArchive, SealedOrdinals } from '@app/sealing';
import { SEARCH_INDEX } from '@app/search-index';
import { Ledger, LIMIT_WINDOWS, Limits, LimitWindows, METERING, Restatements } from '@app/spending';
import { Metrics } from '@app/telemetry';
import { VAULT } from '@app/vault';
import { type DynamicModule, type InjectionToken, Module, type Provider } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { SEAL_KEY } from './audit/audit-seals.controller';
import { ContentRegister } from './audit/content-register';
import { EventShower } from './audit/event-shower';
import { IndexWaiter } from './audit/index-waiter';
import { compatProviders } from './compat';
import { controllers, monitoringControllers } from './controllers';
import { costControlProviders } from './core/cost-control';
import { knowledgeProviders } from './core/knowledge';
import { usageProviders } from './core/usage';
import { routesOf } from './docs/controller-routes';
import { OPENAPI_TEXT } from './docs/docs.controller';
import { openApiDocument } from './docs/openapi';
import { productVersion } from './docs/version';
import { handlers } from './handlers';
import type { Host } from './host';
import { Lists } from './http';
import { Idempotency } from './http/idempotency';
import { RateLimiter } from './http/rate-limiter';
import { VIEW_WAITER } from './http/view-waiter';
import { Health } from './monitoring/health';
import { roleHealth } from './monitoring/role-health';

const value = (provide: InjectionToken, useValue: unknown): Provider => ({ provide, useValue });

/** The API on one host: ports by token, contexts by their handlers, controllers over them; of a process without the role, its health alone. */
@Module({})
export class AppModule {
  static of(host: Host): DynamicModule {
    return {
      module: AppModule,
      imports: [CqrsModule.forRoot()],
      controllers: [...(host.config.ROLES.includes('api') ? controllers : monitoringControllers)],
      providers: [
        ...ports(host),
        ...services(host),
        ...handlers,
        ...knowledgeProviders,
        ...compatProviders,
        ...costControlProviders,
        ...usageProviders,
        ContentRegister,
        EventShower,
        IndexWaiter,
      ],
    };
  }
}

const ports = ({
  config,
  clock,
  ids,
  secret,
  stores,
  projecting,
  policies,
  sealKey,
  reservations,
  models,
  chatModels,
  spending,
  restating,
  metrics,
}: Host): Provider[] => [
  value(CONFIG, config),
  value(CLOCK, clock),
  value(IDS, ids),
  value(InstanceSecret, secret),
  value(EVENT_LOG, stores.log),
  value(READ_STORE, stores.readStore),
  value(COORDINATION_STORE, stores.coordination),
  value(SEARCH_INDEX, stores.searchIndex),
  value(VAULT, stores.vault),
  value(BLOBS, stores.blobs),
  value(EventCatalogue, eventCatalogue),
  value(EventCodec, stores.codec),
  value(Decisions, stores.decisions),
  value(Projecting, projecting),
  value(VIEW_WAITER, projecting),
  value(Policies, policies),
  value(SEAL_KEY, sealKey),
  value(Reservations, reservations),
  value(CHAT_MODELS, chatModels),
  value(Models, models),
  value(METERING, spending.ledger),
  value(Ledger, spending.ledger),
  value(Limits, spending.limits),
  value(Restatements, restating.restatements),
  value(LIMIT_WINDOWS, new LimitWindows(spending.limits, spending.ledger)),
  value(Metrics, metrics),
];

const services = ({
  config,
  clock,
  ids,
  secret,
  stores,
  models,
  leases,
  relay,
  projecting,
  policies,
  sealArchive,
  ordinals,
  knowledge,
  conversations,
  mac,
  logger,
}: Host): Provider[] => {
  const { log, readStore, coordination, searchIndex, vault, blobs, decisions } = stores;
  const access = new Access(decisions);
  const logHealth = async () => {
    const { readable, writable, slow, reason } = await log.health();
    return {
      ok: readable && writable,
      ...(slow === undefined ? {} : { slow }),
      ...(reason === undefined ? {} : { reason }),
    };
  };
  const dependencies = {
    log: logHealth,
    // What processes agree on stands in the same place.
    readStore: async () => {
      const [views, shared] = await Promise.all([readStore.health(), coordination.health()]);
      return views.ok ? shared : views;
    },
    vault: () => vault.health(),
    blobs: () => blobs.health(),
  };
  return [
    value(Access, access),
    value(KeyScope, new KeyScope(decisions, access)),
    value(AdminRegister, new AdminRegister(decisions)),
    value(Bodies, new Bodies(blobs)),
    value(KnownTags, new KnownTags(decisions)),
    value(Retrieval, knowledge.retrieval),
    value(Batches, knowledge.batches),
    value(BlobSweep, knowledge.blobSweep),
    value(Turns, conversations.turns),
    value(AuditLog, new AuditLog(log, readStore)),
    value(SealArchive, sealArchive),
    value(SealedOrdinals, ordinals),
    value(Lists, new Lists(secret)),
    value(
      RateLimiter,
      new RateLimiter(clock, config.RATE_LIMIT_PER_MINUTE, leases.processes.alone ? undefined : coordination),
    ),
    value(Idempotency, new Idempotency(coordination, vault, secret, clock, ids, leases.processes, logger)),
    value(
      Health,
      new Health({
        dependencies,
        spared: {
          searchIndex: () => searchIndex.health(),
          ...(relay === undefined ? {} : { kafka: () => relay.health() }),
          ...roleHealth(leases.processes),
        },
        projecting,
        policies,
        leases,
        foreignEvents: () => knownForeign(readStore),
        unprovenEvents: () => knownUnproven(log, mac),
        providers: () => models.providerStatus(),
        version: productVersion,
      }),
    ),
    value(OPENAPI_TEXT, () => JSON.stringify(openApiDocument(routesOf(controllers), productVersion))),
    value(
      Authenticator,
      new Authenticator(decisions, secret, clock, new ApiKeyUse(decisions, clock, ids), (error) =>
        logger.warn({ error }, 'Recording the use of an API key failed.'),
      ),
    ),
  ];
};
