const LONGEST = 60;

/** Makes a slug from a name: letters without accents, digits, and hyphens between; `space` if nothing is left. */
export const slugOf = (name: string): string => {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? 'space' : slug;
};

/** The slugs to try for a name, in order: the plain one, then numbered ones. */
export const slugsFor = (name: string): readonly string[] => [
  slugOf(name),
  ...[2, 3, 4, 5, 6, 7, 8, 9].map((n) => `${slugOf(name)}-${n}`),
];
