import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const NAME = /^[a-z][a-z0-9-]{0,99}$/;

/** The file of one version of a view, such as `agents-v3.sqlite`. Refuses names that are no plain file names. */
export const versionFile = (folder: string, name: string, version: number): string => {
  if (!NAME.test(name) || !Number.isSafeInteger(version) || version < 0) throw new RangeError(`no view is called ${JSON.stringify(name)} v${version}`);
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

/** Deletes a database with its write-ahead log. */
export const deleteDatabase = (file: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
};
