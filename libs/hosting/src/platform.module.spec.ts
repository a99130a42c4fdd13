import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig, Resources } from '@app/kernel';
import { Policies, Projecting } from '@app/projecting';
import { ModulesContainer } from '@nestjs/core';
import { Test, type TestingModule } from '@nestjs/testing';
import pino from 'pino';
import { PlatformModule } from './platform.module';

const root = join(__dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'modules-'));
const resources = new Resources();
let testing: TestingModule;

beforeAll(async () => {
  const environment = { DATA_DIR: folder };
  const options = { config: readConfig(environment), environment, logger: pino({ level: 'silent' }), resources };
  testing = await Test.createTestingModule({
    imports: [PlatformModule.forRoot({ ...options, version: '0.0.0' })],
  }).compile();
  await testing.init();
});
// Where the modules do not fit together there is nothing to close but what was opened for them.
afterAll(async () => {
  await (testing as TestingModule | undefined)?.close();
  await resources.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What stands in the sources of libraries and views, one entry for each match of a pattern with one group. */
const inSources = (pattern: RegExp, files: readonly string[]): string[] =>
  files
    .filter((file) => !/\.(spec|long-spec)\.ts$/.test(file))
    .flatMap((file) => [...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map(([, name]) => name as string))
    .toSorted();
const sources = (): string[] =>
  ['libs', 'projections'].flatMap((part) =>
    readdirSync(join(root, part), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(part, file)),
  );

describe('the modules of the platform', () => {
  it('provide every command handler and query handler', () => {
    const provided = new Set(
      [...testing.get(ModulesContainer).values()].flatMap(({ providers }) =>
        [...providers.values()].map(({ name }) => String(name)),
      ),
    );
    const handlers = inSources(/@(?:Command|Query)Handler\(\w+\)\nexport class (\w+)/g, sources());
    expect(handlers.length).toBeGreaterThan(60);
    expect(handlers.filter((name) => !provided.has(name))).toEqual([]);
  });

  it('run every policy', async () => {
    const policies = inSources(
      /(?:readonly name|const NAME) = '([\w-]+)'/g,
      sources().filter((file) => file.endsWith('.policy.ts')),
    );
    const running = (await testing.get(Policies).status()).map(({ name }) => name);
    expect(running.toSorted()).toEqual(policies);
  });

  it('keep every view', () => {
    const kept = testing.get(Projecting).names();
    const folders = readdirSync(join(root, 'projections')).filter((name) => name !== 'models');
    expect(folders.filter((name) => !kept.includes(name))).toEqual([]);
  });
});
