import type { RebuildRecord } from './rebuild-record';
import type { View } from './view';

/** Tells whether a living process has a declaration of the projection. */
export type IsDeclared = (declaration: string | undefined) => boolean;

/** True for a build to another declaration of the projection, which a living process works on. */
export const isOthers = async (view: View, { version }: RebuildRecord, isDeclared: IsDeclared): Promise<boolean> => {
  const declaration = await view.records.declaration(version);
  return declaration !== view.store.declaration && isDeclared(declaration);
};

/** Removes the builds that nobody knows of, unless they are of a declaration that a living process works with. */
export const dropOrphans = async (
  view: View,
  rebuilds: readonly (RebuildRecord | undefined)[],
  isDeclared: IsDeclared,
): Promise<void> => {
  const known = new Set([view.served, ...rebuilds.flatMap((record) => [record?.version, record?.from])]);
  for (const version of await view.store.versions()) {
    const declaration = await view.records.declaration(version);
    if (!known.has(version) && (declaration === view.store.declaration || !isDeclared(declaration)))
      await view.remove(version);
  }
};
