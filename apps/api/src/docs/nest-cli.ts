import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { productRoot } from '@app/kernel';

const APPLICATION = { entryFile: 'main', compilerOptions: { tsConfigPath: 'apps/tsconfig.build.json' } };
const LIBRARY = { entryFile: 'index' };

/** `nest-cli.json` with a project for each folder of applications, libraries and views; what else it says stays. */
export const nestCli = (present: string): string => {
  const projects = Object.fromEntries([
    ...projectsIn('apps', { type: 'application', ...APPLICATION }),
    ...projectsIn('libs', { type: 'library', ...LIBRARY }),
    ...projectsIn('projections', { type: 'library', ...LIBRARY }),
  ]);
  return `${JSON.stringify({ ...(JSON.parse(present) as object), projects }, null, 2)}\n`;
};

/** A view may have the name of a library, so it is named by its folder too. */
const projectsIn = (folder: string, project: object): readonly (readonly [string, object])[] =>
  readdirSync(join(productRoot, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
    .map((name) => {
      const root = `${folder}/${name}`;
      return [folder === 'projections' ? root : name, { ...project, root, sourceRoot: `${root}/src` }] as const;
    });
