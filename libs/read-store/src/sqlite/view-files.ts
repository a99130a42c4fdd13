import { accessSync, constants, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The file beside those of the views that says which of them are live. */
export const STATE_FILE = 'state.sqlite';

const NAME = /^[a-z][a-z0-9-]{0,99}$/;

/** The file of one version of a view, such as `agents-v3.sqlite`. Rejects names that are no plain file names. */
export const versionFile = (folder: string, name: string, version: number): string => {
  if (!NAME.test(name) || !Number.isSafeInteger(version) || version < 0)
    throw new RangeError(`no view is called ${JSON.stringify(name)} v${version}`);
  return join(folder, `${name}-v${version}.sqlite`);
};

/** The versions of a view that have a file, in ascending order. */
export const versionsIn = (folder: string, name: string): readonly number[] =>
  allVersionsIn(folder)
    .filter((found) => found.name === name)
    .map((found) => found.version);

/** Every version of every view that has a file, by name and version. */
export const allVersionsIn = (folder: string): readonly { readonly name: string; readonly version: number }[] =>
  readdirSync(folder)
    .flatMap((file) => {
      const [, name, version] = /^(.+)-v(\d+)\.sqlite$/.exec(file) ?? [];
      return name === undefined ? [] : [{ name, version: Number(version) }];
    })
    .toSorted((a, b) => (a.name === b.name ? a.version - b.version : a.name < b.name ? -1 : 1));

/** A database with its write-ahead log. */
const SUFFIXES = ['', '-wal', '-shm'];
/** What the name of a file that was set aside ends with. */
const ASIDE = '.damaged';

/** Deletes a database with its write-ahead log. */
export const deleteDatabase = (file: string): void => {
  for (const suffix of SUFFIXES) rmSync(file + suffix, { force: true });
};

/** Renames a database with its write-ahead log, so that it is no version of a view any more. One that was set aside under this name before goes. */
export const setDatabaseAside = (file: string): void => {
  for (const suffix of SUFFIXES) {
    rmSync(file + suffix + ASIDE, { force: true, recursive: true });
    if (existsSync(file + suffix)) renameSync(file + suffix, file + suffix + ASIDE);
  }
};

/** Deletes what was set aside: it may hold what was erased since. */
export const deleteSetAside = (folder: string): void => {
  for (const file of readdirSync(folder))
    if (file.endsWith(ASIDE)) rmSync(join(folder, file), { force: true, recursive: true });
};

/** True where this process may not read and write a database, or something else has its name. No repetition helps then. */
export const isUnreadable = (file: string): boolean => SUFFIXES.some((suffix) => isBarred(file + suffix));

const isBarred = (file: string): boolean => {
  try {
    if (!statSync(file).isFile()) return true;
    accessSync(file, constants.R_OK | constants.W_OK);
    return false;
  } catch (error) {
    return ['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
};
