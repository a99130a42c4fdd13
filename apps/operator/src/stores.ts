import { join } from 'node:path';
import { type Config, InvalidConfig, readConfig } from '@app/kernel';
import { findKey } from '@app/vault';
import { readEnvironment } from '../../api/src/environment';
import { EXIT, Failure } from './exit-codes';

/** The configuration of the stores on this machine, from the environment and `.env`. */
export const storesConfig = (): Config => {
  try {
    return readConfig(readEnvironment());
  } catch (error) {
    if (error instanceof InvalidConfig) throw new Failure(error.message, EXIT.wrongUsage);
    throw error;
  }
};

/** A secret of the instance, from the environment or `DATA_DIR/keys`. Throws where there is none. */
export const instanceKey = ({ DATA_DIR, ...config }: Config, name: 'VAULT_KEY' | 'SEAL_KEY'): string => {
  const found = findKey({ folder: join(DATA_DIR, 'keys'), name, given: config[name] });
  if (found === undefined) throw new Failure(`There is no ${name}: set it, or DATA_DIR to the folder of the stores.`);
  return found;
};
