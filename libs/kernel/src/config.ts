import { resolve } from 'node:path';
import { z } from 'zod';
import { issueWords, sentenceAbout } from './issue-words';
import { timeZoneName } from './time-zone';

const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
const list = <T extends string>(values: readonly [T, ...T[]]) =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(z.enum(values)).min(1));

const httpUrl = z.url({ protocol: /^https?$/, error: 'must begin with http:// or https:// and name a host' });
/** `host:port`; an IPv6 address in brackets. */
const broker = z
  .string()
  .regex(/^(?:[\w.-]+|\[[\da-fA-F:.]+\]):\d{1,5}$/, 'must be host:port, with commas between several');

/** Every environment variable of the product. The table in docs/configuration.md is generated from the descriptions. */
export const configSchema = z.object({
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on.'),
  PORT: wholeNumber(0, 65_535).default(3000).describe('Port to listen on; 0 takes a free one.'),
  BASE_URL: httpUrl.optional().describe('Public address, for links. Default: `http://HOST:PORT`.'),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe('Folder of the embedded stores: `log/ views/ search/ blobs/ vault/ keys/`.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Least severity that is logged.'),
  MAX_UPLOAD_BYTES: wholeNumber(1, 4 * 1024 ** 3)
    .default(100 * 1024 ** 2)
    .describe('Largest uploaded file, bytes.'),
  RATE_LIMIT_PER_MINUTE: wholeNumber(1, 1_000_000)
    .optional()
    .describe('Requests a minute per credential. Default: no limit.'),
  DEFAULT_CURRENCY: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a three-letter currency code')
    .default('USD')
    .describe('Currency of all amounts.'),
  DEFAULT_TIME_ZONE: timeZoneName.default('UTC').describe('Time zone of calendar windows.'),
  PUBLIC_DOCS: flag.default(true).describe('Whether `/docs` and `/openapi.json` are public.'),
  METRICS_TOKEN: z.string().min(16).optional().describe('Bearer token that may read `/metrics` and `/health`.'),
  BOOTSTRAP_API_KEY: z
    .string()
    .min(32)
    .max(512)
    .optional()
    .describe('First API key of the first admin, at least 32 characters. Default: made and printed once.'),
  SPACE_CREATION_ROLES: list(['admin', 'member', 'auditor', 'operator'])
    .default(['admin', 'member'])
    .describe('Instance roles that may create Spaces.'),
  VAULT_KEY: z.string().min(32).optional().describe('Key that wraps all data keys. Default: made in `DATA_DIR/keys`.'),
  SEAL_KEY: z
    .string()
    .min(32)
    .optional()
    .describe('Secret from which the signing key of the seals is derived. Default: made in `DATA_DIR/keys`.'),
  MODELS_FILE: z.string().min(1).optional().describe('Model catalogue, JSON or YAML. Default: the local models alone.'),
  ROLES: list(['api', 'projector', 'worker'])
    .default(['api', 'projector', 'worker'])
    .describe('What this process runs. Fewer than all three where every store is on a server.'),
  EVENTSTORE_URL: z
    .string()
    .regex(/^(esdb|kurrentdb)(\+discover)?:\/\/./, 'must begin with esdb:// or kurrentdb://')
    .optional()
    .describe('Connection string of EventStoreDB or KurrentDB. Default: the log in `DATA_DIR`.'),
  MONGODB_URL: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\/./, 'must begin with mongodb:// or mongodb+srv://')
    .optional()
    .describe(
      'Connection string of MongoDB; views go to its database (`platform` by default), keys to one of their own beside it. Default: views and keys in `DATA_DIR`.',
    ),
  ELASTICSEARCH_URL: httpUrl
    .optional()
    .describe(
      'Address of Elasticsearch, with user and password where it asks for them; `?prefix=` is what the names of its indexes begin with (`platform` by default). Default: the search index in `DATA_DIR`.',
    ),
  S3_URL: httpUrl
    .optional()
    .describe('`http(s)://KEY:SECRET@HOST/BUCKET?region=...`: an S3-compatible store of files. Default: `DATA_DIR`.'),
  KAFKA_BROKERS: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(broker))
    .optional()
    .describe(
      'Brokers, `host:port` with commas between them, that integration events are sent to. Default: none are sent.',
    ),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[a-zA-Z0-9._-]{0,100}$/, 'may hold letters, digits, dots, dashes and underscores')
    .default('platform.')
    .describe('What the names of topics begin with.'),
  KAFKA_SSL: flag.default(false).describe('Whether brokers are spoken to over TLS.'),
  KAFKA_SASL_MECHANISM: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512'])
    .optional()
    .describe('How to sign in to the brokers. Default: not at all.'),
  KAFKA_SASL_USERNAME: z.string().min(1).optional().describe('User at the brokers.'),
  KAFKA_SASL_PASSWORD: z.string().min(1).optional().describe('Password at the brokers.'),
  KAFKA_PARTITIONS: wholeNumber(1, 1_000).default(6).describe('Partitions of topics that are made.'),
  KAFKA_REPLICATION: wholeNumber(1, 10).default(1).describe('Replicas of topics that are made.'),
  COMPAT_DROP_UNSUPPORTED: flag.default(false).describe('Drop unsupported gateway fields instead of refusing them.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional().describe('Where traces are sent (OTLP over HTTP). Default: nowhere.'),
  OTEL_SERVICE_NAME: z.string().min(1).default('agent-platform').describe('Service name in traces.'),
});

export type Config = Readonly<z.output<typeof configSchema>>;

/** A sentence about each value that is wrong, naming its variable. */
export class InvalidConfig extends Error {
  override readonly name = 'InvalidConfig';
}

/** Checks the environment once and freezes it. Throws `InvalidConfig`; empty values count as unset. */
export const readConfig = (environment: Readonly<Record<string, string | undefined>>): Config => {
  const given = Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value]) => name in configSchema.shape && value !== undefined && value !== '',
    ),
  );
  const parsed = configSchema.safeParse(given, { error: issueWords });
  if (!parsed.success)
    throw new InvalidConfig(
      parsed.error.issues.map((issue) => sentenceAbout(issue.path.join('.'), issue.message)).join(' '),
    );
  const config = Object.freeze({ ...parsed.data, DATA_DIR: resolve(parsed.data.DATA_DIR) });
  const missing = missingForOthers(config);
  if (new Set(config.ROLES).size < 3 && missing.length > 0) {
    throw new InvalidConfig(
      `ROLES must name api, projector and worker while ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set: processes that share the work share all stores and both keys.`,
    );
  }
  return config;
};

/** The variables of the stores; a store whose variable is not set is embedded and serves one process. */
const STORE_URLS = ['EVENTSTORE_URL', 'MONGODB_URL', 'ELASTICSEARCH_URL', 'S3_URL'] as const;

const missingForOthers = (config: Config): readonly string[] =>
  [...STORE_URLS, 'VAULT_KEY' as const, 'SEAL_KEY' as const].filter((name) => config[name] === undefined);

/** Whether other processes may work beside this one: every store is on a server, and both keys are given. */
export const mayShare = (config: Config): boolean => missingForOthers(config).length === 0;

/** Whether a store stands under `DATA_DIR`, which serves one process. */
export const hasEmbeddedStore = (config: Config): boolean => STORE_URLS.some((name) => config[name] === undefined);
