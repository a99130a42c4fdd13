import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeLogger } from '@app/http';
import { type Config, readConfig } from '@app/kernel';
import { type Platform, type Program, startProgram } from '@app/process';
import { Policies } from '@app/projecting';
import { projector } from '../../apps/projector/src/app.module';
import { worker } from '../../apps/worker/src/app.module';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'program-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Roles are divided where all stores are on servers; what a program is made of shows on embedded ones, too. */
const start = (program: Program, ROLES: Config['ROLES']): Promise<Platform> => {
  const environment = { DATA_DIR: folder, METRICS_TOKEN: 'metrics-token-0123456789-abcdefghijklmnop' };
  return startProgram(program, { ...readConfig(environment), ROLES }, environment, makeLogger('silent'));
};

describe.each([
  ['projector', projector, 'running'],
  ['worker', worker, 'stopped'],
] as const)('the program apps/%s', (role, program, policies) => {
  it('runs its role, answers how it is doing, and nothing else', async () => {
    const { app, stop } = await start(program, [role]);
    expect(new Set((await app.get(Policies).status()).map(({ state }) => state))).toEqual(new Set([policies]));
    const answered = async (url: string): Promise<number> => (await app.inject({ url })).statusCode;
    expect(
      await Promise.all(['/health/live', '/health/ready', '/metrics', '/api/v1/core/users'].map(answered)),
    ).toEqual([200, 200, 401, 404]);
    await stop();
  });

  it('rejects the role of another', async () => {
    await expect(start(program, [role, 'api'])).rejects.toMatchObject({
      name: 'InvalidConfig',
      message: `ROLES names api, which apps/${role} does not run. Leave ROLES out, or start apps/api, which runs every role.`,
    });
  });
});
