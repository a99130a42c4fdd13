import { existsSync, readFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  assertFolder,
  type Config,
  InvalidConfig,
  makeFolder,
  readConfig,
  readEnvironment,
  sentenceIn,
} from '@app/kernel';
import { findKey } from '@app/vault';
import { EXIT, Failure } from '../exit-codes';

/** The configuration of the stores on this machine, from the environment and `.env`. */
export const storesConfig = (): Config => {
  try {
    return readConfig(readEnvironment());
  } catch (error) {
    if (error instanceof InvalidConfig) throw new Failure(error.message, EXIT.wrongUsage);
    throw error;
  }
};

/** Throws if `DATA_DIR` holds no log, instead of creating one there: it is not the product's folder. */
export const assertLog = ({ DATA_DIR, EVENTSTORE_URL }: Config): void => {
  if (EVENTSTORE_URL === undefined && !existsSync(join(DATA_DIR, 'log', 'events.sqlite')))
    throw new Failure(`No log in ${DATA_DIR}. Set DATA_DIR to the folder of the stores.`);
};

/** For commands that fill a folder. Throws if it cannot be created or written. */
export const assertDataFolder = ({ DATA_DIR }: Config): Promise<void> =>
  orFailure(Promise.resolve().then(() => assertFolder('DATA_DIR', DATA_DIR)));

/** Makes the folder that a file is to lie in, for its owner alone. */
export const makeFolderOf = (file: string): Promise<void> =>
  orFailure(Promise.resolve().then(() => makeFolder(resolve(dirname(file)))));

/** Whether the environment or `.env` says which stores are meant. */
export const storesNamed = (): boolean =>
  ['DATA_DIR', 'EVENTSTORE_URL'].some((name) => Boolean(readEnvironment()[name]));

/** Public keys of logs that were imported here, one a line. */
const imported = ({ DATA_DIR }: Config): string => join(DATA_DIR, 'keys', 'SEAL_KEY.pub');

/** Undefined where none was. */
export const importedPublicKeys = (config: Config): readonly string[] | undefined =>
  existsSync(imported(config))
    ? readFileSync(imported(config), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : undefined;

/** Keeps the public key of a log that was imported, so that it can be verified without a secret. */
export const keepPublicKey = async (config: Config, publicKey: string): Promise<void> => {
  if (importedPublicKeys(config)?.includes(publicKey) === true) return;
  await makeFolderOf(imported(config));
  await orFailure(appendFile(imported(config), `${publicKey}\n`));
};

type Secret = 'VAULT_KEY' | 'SEAL_KEY';

/** A secret of the instance, from the environment or `DATA_DIR/keys`; undefined if there is none. */
export const findInstanceKey = ({ DATA_DIR, ...config }: Config, name: Secret): string | undefined =>
  findKey({ folder: join(DATA_DIR, 'keys'), name, given: config[name] });

/** The same. Throws where there is none. */
export const instanceKey = (config: Config, name: Secret): string => {
  const found = findInstanceKey(config, name);
  if (found === undefined)
    throw new Failure(`${name} is missing. Set it, or set DATA_DIR to the folder of the stores.`);
  return found;
};

/** The outcome of work on the stores. Errors that a person can act on become a `Failure`. */
export const orFailure = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    const sentence = error instanceof Failure ? undefined : sentenceIn(error);
    throw sentence === undefined ? error : new Failure(sentence);
  }
};
