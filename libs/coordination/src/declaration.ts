import { createHash } from 'node:crypto';

/** A declaration of a view, as short as leases need it: the projection's version and a digest of all that a build was made with. */
export const declarationName = (declaration: string): string => {
  const { version } = JSON.parse(declaration) as { readonly version: number };
  return `${version}.${createHash('sha256').update(declaration).digest('hex').slice(0, 16)}`;
};

/** One living process and what it declares a view to be. */
export interface Declared {
  readonly declaration: string;
  /** Version of the product. */
  readonly version: string;
}

/** True when no living process declares something newer: a later version of the projection, or the same of a later product. */
export const isNewest = (mine: Declared, others: readonly Declared[]): boolean =>
  others.every((other) => other.declaration === mine.declaration || compare(other, mine) < 0);

const compare = (one: Declared, other: Declared): number =>
  numberOf(one) - numberOf(other) ||
  one.version.localeCompare(other.version, 'en', { numeric: true }) ||
  one.declaration.localeCompare(other.declaration);

const numberOf = ({ declaration }: Declared): number => Number(declaration.split('.')[0]);
