import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Loads the secret `name` (`VAULT_KEY`, `SEAL_KEY`): from the environment, otherwise from `folder`, otherwise a new
 * one, which it writes there for its owner alone. Calls `warn` for a new one: without it the data is lost, and beside
 * the backups it protects nothing; and for one with white space around it, which others would not see. Throws `MissingKey` if the stores are `inUse` already: another key would not open
 * them.
 */
export const loadOrMakeKey = (options: {
  readonly folder: string;
  readonly name: string;
  readonly given?: string | undefined;
  readonly inUse: boolean;
  readonly warn: (sentence: string) => void;
}): string => {
  const found = findKey(options);
  if (found !== undefined) {
    // A key that was in use with it must stay as it is.
    if (found !== found.trim())
      options.warn(
        `${options.name} begins or ends with a space or a line break, which is part of it. Give every process and command exactly this value.`,
      );
    return found;
  }
  if (options.inUse) throw new MissingKey(options.name, options.folder);
  const file = join(options.folder, options.name);
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  const key = randomBytes(32).toString('base64url');
  if (!writeDurably(options.folder, file, key)) return readKey(file);
  options.warn(`Generated ${options.name} in ${file}. Keep a copy apart from backups.`);
  return key;
};

/** The key that the stores were made with is missing. */
export class MissingKey extends Error {
  override readonly name = 'MissingKey';

  constructor(key: string, folder: string) {
    super(`${key} is missing, but the data need it. Set ${key}, or put its file back into ${folder}.`);
  }
}

/** A key file holds something else. */
export class UnusableKey extends Error {
  override readonly name = 'UnusableKey';

  constructor(file: string, why = 'holds no key of at least 32 characters', options?: ErrorOptions) {
    super(`${file} ${why}. Put the right one back, or set the variable of its name.`, options);
  }
}

/** The secret as `loadOrMakeKey` would find it; undefined where there is none. */
export const findKey = ({
  folder,
  name,
  given,
}: {
  readonly folder: string;
  readonly name: string;
  readonly given?: string | undefined;
}): string | undefined => {
  const file = join(folder, name);
  return given ?? (existsSync(file) ? readKey(file) : undefined);
};

const readKey = (file: string): string => {
  const key = textOf(file).trim();
  if (key.length < 32) throw new UnusableKey(file);
  return key;
};

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UnusableKey(file, `cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error });
  }
};

/**
 * The file gets its name when it is whole, so a process that dies meanwhile leaves none that holds no key. A link
 * replaces nothing: false where another process, which starts at the same time, made the key.
 */
const writeDurably = (folder: string, file: string, text: string): boolean => {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}.unfinished`;
  try {
    writeFileSync(unfinished, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
    linkSync(unfinished, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
  for (const changed of [folder, dirname(folder)]) flush(changed);
  return true;
};

/** Without it a power failure may undo the names in a folder. */
const flush = (folder: string): void => {
  const directory = openSync(folder, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
};

/** A file is damaged, or no file of keys; nothing was changed. */
export class UnusableKeys extends Error {
  override readonly name = 'UnusableKeys';
}

/** `VAULT_KEY` is not the one that keys were wrapped under; nothing was read or changed. */
export class WrongVaultKey extends Error {
  override readonly name = 'WrongVaultKey';
}
