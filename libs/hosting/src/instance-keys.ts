import { join } from 'node:path';
import { type EventLog, LogUnfinished } from '@app/event-log';
import { type Config, retry, type Position, type Warning } from '@app/kernel';
import { loadOrMakeKey } from '@app/vault';

/** Injection token of the `InstanceKeys`. */
export const INSTANCE_KEYS = Symbol('InstanceKeys');

export interface InstanceKeys {
  /** Wraps the data keys in the vault. */
  readonly vaultKey: string;
  /** Signs seals and proves who appended. */
  readonly sealSecret: string;
  /** Where the log stood when they were read: null for one that is empty, whose keys were made. */
  readonly head: Position | null;
}

export interface KeyParts {
  readonly config: Config;
  readonly log: Pick<EventLog, 'head' | 'importMark'>;
  readonly logger: Warning;
}

/** The keys of the environment, else of `DATA_DIR/keys`, else new ones. Throws `MissingKey` where the log holds events already, `LogUnfinished` where they are half of an import. */
export const loadInstanceKeys = async ({ config, log, logger }: KeyParts): Promise<InstanceKeys> => {
  const warn = (sentence: string): void => logger.warn(sentence);
  if (await retry(async () => log.importMark?.isSet(), { warn }))
    throw new LogUnfinished('an import', 'the server of EVENTSTORE_URL', 'take an empty server and empty stores');
  const head = config.EVENTSTORE_URL === undefined ? await log.head() : await retry(() => log.head(), { warn });
  const keys = { folder: join(config.DATA_DIR, 'keys'), inUse: head !== null, warn };
  return {
    vaultKey: loadOrMakeKey({ ...keys, name: 'VAULT_KEY', given: config.VAULT_KEY }),
    sealSecret: loadOrMakeKey({ ...keys, name: 'SEAL_KEY', given: config.SEAL_KEY }),
    head,
  };
};
