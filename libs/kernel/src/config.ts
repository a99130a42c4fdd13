import { resolve } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
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
const hostAndPort = z
  .string()
  .regex(/^(?:[\w.-]+|\[[\da-fA-F:.]+\]):\d{1,5}$/, 'must be host:port, separated by commas');

/** Every environment variable of the product. The table in docs/configuration.md is generated from the descriptions. */
export const configSchema = z.object({
  HOST: z.string().min(1).default('127.0.0.1').describe('Listen on this address.'),
  PORT: wholeNumber(0, 65_535).default(3000).describe('Listen on this port; 0 picks a free one.'),
  BASE_URL: httpUrl.optional().describe('Public address, used in links. Default: `http://HOST:PORT`.'),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe('Keep the embedded stores in this folder: `log/ views/ search/ blobs/ vault/ keys/`.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Log messages of this severity and above.'),
  MAX_UPLOAD_BYTES: wholeNumber(1, 4 * 1024 ** 3)
    .default(100 * 1024 ** 2)
    .describe('Size limit of an uploaded file, in bytes.'),
  PARSER_MEMORY_MB: wholeNumber(128, 65_536)
    .default(512)
    .describe('Memory limit of a process that parses an uploaded file, in MiB. Up to five run at once.'),
  PARSER_SECONDS: wholeNumber(1, 3_600).default(60).describe('Time limit for parsing an uploaded file, in seconds.'),
  PARSER_INFLATED_BYTES: wholeNumber(1024 ** 2, 64 * 1024 ** 3)
    .default(1024 ** 3)
    .describe('Size limit of an uploaded file once it is decompressed, in bytes.'),
  SKILLS_PER_PLACE: wholeNumber(1, 1_000)
    .default(50)
    .describe('Maximum number of Skills in a Space, and in each of its Agents.'),
  SKILL_MAX_FILES: wholeNumber(0, 10_000).default(500).describe('Maximum number of reference files in a Skill.'),
  SKILL_MAX_BYTES: wholeNumber(1, 1024 ** 3)
    .default(100 * 1024 ** 2)
    .describe('Size limit of all reference files of a Skill together, decompressed, in bytes.'),
  CONVERSATION_CONTEXT_TOKENS: wholeNumber(500, 10_000_000)
    .optional()
    .describe(
      'Maximum tokens of a conversation in the prompt. Earlier messages are summarised. Default: three quarters of the `contextWindow` of the model, or 16000.',
    ),
  MEMORY_PERSONAL_MAX: wholeNumber(1, 10_000)
    .default(100)
    .describe('Maximum number of memories that an Agent keeps of one user.'),
  MEMORY_SHARED_MAX: wholeNumber(1, 10_000)
    .default(100)
    .describe('Maximum number of memories that an Agent shares with all its users.'),
  MEMORY_CONTEXT_TOKENS: wholeNumber(0, 100_000)
    .default(800)
    .describe('Maximum tokens of memories in the prompt of an answer.'),
  MEMORY_PROPOSAL_DAYS: wholeNumber(1, 3_650)
    .default(30)
    .describe('Expire a proposed memory that nobody confirmed or discarded after this many days.'),
  SCREENING_MODEL: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Have this chat model of `MODELS_FILE` judge each memory that the rules find safe. The model gets the text of the memory. Default: none.',
    ),
  SKILL_CATALOG_TOKENS: wholeNumber(100, 1_000_000)
    .default(4_000)
    .describe(
      'Maximum tokens of the names and descriptions of Skills in the prompt. Beyond it, the least relevant Skills are listed by name only.',
    ),
  RATE_LIMIT_PER_MINUTE: wholeNumber(1, 1_000_000)
    .optional()
    .describe(
      'Limit requests a minute, for each API key with its sessions, and sign-in attempts for each address. Default: no limit.',
    ),
  DEFAULT_CURRENCY: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a three-letter currency code')
    .default('USD')
    .describe(
      'Currency of all amounts, and of the prices in `MODELS_FILE`. Spend limits keep theirs: those that block [reject calls](spend-limits.md#currency) after a change until you set new ones.',
    ),
  DEFAULT_TIME_ZONE: timeZoneName.default('UTC').describe('Time zone of calendar days, weeks and months.'),
  PUBLIC_DOCS: flag.default(true).describe('Serve `/docs` and `/openapi.json` without an API key.'),
  // No header has the line break that a file of secrets ends in.
  METRICS_TOKEN: z
    .string()
    .trim()
    .min(16)
    .optional()
    .describe('Accept this bearer token for `/metrics` and `/health`, at least 16 characters.'),
  BOOTSTRAP_API_KEY: z
    .string()
    .trim()
    .min(32)
    .max(512)
    .optional()
    .describe('API key of the first admin, at least 32 characters. Default: generated and printed once.'),
  SPACE_CREATION_ROLES: list(['admin', 'member', 'auditor', 'operator'])
    .default(['admin', 'member'])
    .describe('Allow users with these roles to create Spaces.'),
  MARKETPLACE_ROLES: list(['admin', 'member', 'auditor', 'operator'])
    .default(['admin'])
    .describe('Allow users with these roles to list Skills in the marketplace and archive them.'),
  VAULT_KEY: z
    .string()
    .min(32)
    .optional()
    .describe('Encrypt all data keys with this key, at least 32 characters. Default: generated in `DATA_DIR/keys`.'),
  SEAL_KEY: z
    .string()
    .min(32)
    .optional()
    .describe(
      'Sign seals and authenticate events with keys derived from this secret, at least 32 characters. Default: generated in `DATA_DIR/keys`.',
    ),
  DEFAULT_SKILLS_DIR: z
    .string()
    .min(1)
    .optional()
    .describe('Give every Agent the Skills in this folder, each in a folder with `SKILL.md`. Default: none.'),
  MODELS_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('Read models and providers from this JSON or YAML file. Default: the local models only.'),
  ROLES: list(['api', 'projector', 'worker'])
    .default(['api', 'projector', 'worker'])
    .describe('Run these roles in this process. Run fewer than all three only if every store is on a server.'),
  PROCESS_URL: httpUrl
    .optional()
    .describe(
      'Address at which other processes reach this one, such as `http://10.0.0.7:3000`. They forward requests for incognito conversations to it; without it they answer 503.',
    ),
  EVENTSTORE_URL: z
    .string()
    .regex(/^(esdb|kurrentdb)(\+discover)?:\/\/./, 'must begin with esdb:// or kurrentdb://')
    .optional()
    .describe('Keep the log on EventStoreDB or KurrentDB (connection string). Default: in `DATA_DIR`.'),
  MONGODB_URL: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\/./, 'must begin with mongodb:// or mongodb+srv://')
    .optional()
    .describe(
      'Keep views and data keys on MongoDB (connection string). Views go to the database that it names (`platform` by default), keys to a separate one. Default: in `DATA_DIR`.',
    ),
  ELASTICSEARCH_URL: httpUrl
    .optional()
    .describe(
      'Keep the search index on Elasticsearch (address, with user and password if needed). `?prefix=` sets the prefix of index names (`platform` by default). Default: in `DATA_DIR`.',
    ),
  S3_URL: httpUrl
    .optional()
    .describe(
      'Keep files on an S3-compatible store: `http(s)://KEY:SECRET@HOST/BUCKET?region=...`. Default: in `DATA_DIR`.',
    ),
  KAFKA_BROKERS: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(hostAndPort))
    .optional()
    .describe('Send integration events to these Kafka brokers: `host:port`, separated by commas. Default: off.'),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[a-zA-Z0-9._-]{0,100}$/, 'may hold letters, digits, dots, dashes and underscores')
    .default('platform.')
    .describe('Prefix for topic names.'),
  KAFKA_SSL: flag.default(false).describe('Use TLS for brokers.'),
  KAFKA_SASL_MECHANISM: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512'])
    .optional()
    .describe('Sign in to brokers with this SASL mechanism. Default: no sign-in.'),
  KAFKA_SASL_USERNAME: z.string().min(1).optional().describe('User name for brokers.'),
  KAFKA_SASL_PASSWORD: z.string().min(1).optional().describe('Password for brokers.'),
  KAFKA_PARTITIONS: wholeNumber(1, 1_000)
    .default(6)
    .describe('Number of partitions for topics that the platform creates.'),
  KAFKA_REPLICATION: wholeNumber(1, 10).default(1).describe('Number of replicas for topics that the platform creates.'),
  COMPAT_DROP_UNSUPPORTED: flag
    .default(false)
    .describe('Drop unsupported gateway fields instead of rejecting the request.'),
  TOOL_PRIVATE_HOSTS: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(hostAndPort))
    .optional()
    .describe(
      'Let HTTP tools of Agents call these private addresses: `host:port`, separated by commas. Default: none.',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl
    .optional()
    .describe('Send traces to this address (OTLP over HTTP). Default: off.'),
  OTEL_SERVICE_NAME: z.string().min(1).default('agent-platform').describe('Service name in traces.'),
});

/** The settings, checked and with their defaults. */
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
      parsed.error.issues.map((issue) => sentenceAbout(String(issue.path[0]), issue.message)).join(' '),
    );
  const config = Object.freeze({ ...parsed.data, DATA_DIR: resolve(parsed.data.DATA_DIR) });
  const missing = missingForOthers(config);
  if (new Set(config.ROLES).size < 3 && missing.length > 0) {
    throw new InvalidConfig(
      `ROLES must name api, projector and worker while ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set: processes that share work need the same stores and keys.`,
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

/** Settings by name as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of the process, over a `.env` file in the working folder. The one place that reads either. */
export const readEnvironment = (): Environment => ({
  ...(existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}),
  ...process.env,
});
