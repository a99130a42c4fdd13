import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is said in titles of tests and in doc comments. */
const root = join(__dirname, '..');

it('a title of a test says something beside the values of its case', () => {
  const specs = ['apps', 'libs', 'projections', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?:[.-]spec|\.contract)\.ts$/.test(file))
      .map((file) => join(folder, file)),
  );
  const titles = specs.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    // Of a test, or behind the cases of one. A group may be called by a value.
    return [...text.matchAll(/(?:\b(?:it|test)\(|\)\()\s*(['"`])((?:(?!\1).)+)\1,/g)].flatMap(
      ({ 2: title = '', index }) =>
        /describe(?:\.\w+)*$/.test(
          text
            .slice(0, index)
            .split(/\.each\b/)
            .at(-2) ?? '',
        ) && text.startsWith(')', index)
          ? []
          : [{ file, title }],
    );
  });
  const PLACEHOLDERS = /%(?:\d\$)?[sdifjo#]|\$\{[^}]*\}|\$[\w.]+/g;
  const PARTICLES = /\b(?:a|an|the|and|are|as|at|by|for|in|is|of|on|one|to|with)\b/gi;
  expect(titles.length).toBeGreaterThan(3_000);
  expect(
    titles.filter(({ title }) => !/\p{L}{2}/u.test(title.replaceAll(PLACEHOLDERS, '').replaceAll(PARTICLES, ''))),
  ).toEqual([]);
});

/** A line before it ends a comment, or is a decorator. */
const isDocumented = (before: string): boolean => /\*\/$|^@|^\S*\}\)$/.test(before);

/** Derived from a schema or from events, which say what they are: `z.output<typeof schema>` where the schema has a comment itself. */
const isDescribedElsewhere = (text: string, declaration: string): boolean => {
  const schema = /z\.output<typeof (\w+)>/.exec(declaration)?.[1];
  return schema === undefined
    ? /= Events?Of</.test(declaration)
    : new RegExp(`\\*/\\n(?:export )?const ${schema} = `).test(text);
};

it('a function, class, interface or type that a library exports has a doc comment', () => {
  const exported = readdirSync(join(root, 'libs')).flatMap((library) => {
    const index = ['index.ts', 'threads.ts']
      .map((name) => join(root, 'libs', library, 'src', name))
      .map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : ''))
      .join('\n');
    return [...index.matchAll(/^export (?:type )?\{([^}]*)\} from '\.\/([^']+)'/gm)].flatMap(
      ([, names = '', path = '']) => {
        const file = [`${path}.ts`, `${path}/index.ts`].find((name) =>
          existsSync(join(root, 'libs', library, 'src', name)),
        );
        const text = file === undefined ? '' : readFileSync(join(root, 'libs', library, 'src', file), 'utf8');
        return [
          ...text.matchAll(
            /(?<=(.*)\n)export (?:const (\w+) = (?:async )?[(<].*|(?:(?:abstract )?class|interface|type) (\w+).*)/g,
          ),
        ].flatMap(([declaration, before = '', constant, name = constant ?? '']) =>
          !new RegExp(`\\b${name}\\b`).test(names)
            ? []
            : [
                {
                  place: `libs/${library}/src/${file}: ${name}`,
                  before,
                  isDerived: isDescribedElsewhere(text, declaration),
                },
              ],
        );
      },
    );
  });
  expect(exported.length).toBeGreaterThan(900);
  expect(
    exported.filter(({ before, isDerived }) => !isDocumented(before) && !isDerived).map(({ place }) => place),
  ).toEqual([]);
});
