import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codesOf, type CreateApplication, LATE_MS, makeLogger, type ServedRoute, wildcardOf } from '@app/http';
import { type InstanceRole, PERMISSIONS_OF_ROLE } from '@app/identity';
import { readConfig } from '@app/kernel';
import { LocalEmbeddings } from '@app/models';
import { type Platform, startProgram } from '@app/process';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import type { Logger } from 'pino';
import { api } from '../../apps/api/src/program';
import { documentedAnswers } from './documented-answers';
import { type Host, hostOf } from './host';
import { sharedEmbeddings } from './shared-embeddings';

export const ADMIN_KEY = 'test-bootstrap-key-0123456789-abcdefghijklmnop';

export interface Call {
  readonly method?: 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The admin's by default; null for none. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly payload?: string | Buffer;
}

export interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Parsed where it is JSON, undefined where there is none. */
  readonly body: T;
  readonly text: string;
}

export interface TestPlatform {
  readonly platform: Platform & { readonly host: Host };
  readonly dataDir: string;
  /** Where it listens; empty when it does not. */
  readonly url: string;
  call<T = Record<string, unknown>>(path: string, call?: Call): Promise<Answer<T>>;
  /** Creates a user with a role and an API key of theirs. */
  newCaller(given?: {
    role?: InstanceRole;
    permissions?: readonly string[];
    agentIds?: readonly string[];
    allAgents?: boolean;
  }): Promise<{ userId: string; keyId: string; key: string }>;
  /** Stops it; the folder goes with it unless it is kept for another start. */
  stop(options?: { keep?: boolean }): Promise<void>;
}

/**
 * Throws at an answer that the OpenAPI document does not have, and at a code that the route does not declare: the document
 * would lack it, and nothing else would tell. The compatible API declares no codes.
 */
const assertDocumented = (
  routes: readonly ServedRoute[],
  method: string,
  path: string,
  { status, headers, body, text }: Answer<unknown>,
): void => {
  const mediaType = String(headers['content-type']).split(';', 1)[0] as string;
  if (body === undefined || !JSON_TYPES.has(mediaType)) return;
  const [route] = routes
    .filter((each) => each.method === method && patternOf(each.url).test(path))
    .toSorted((a, b) => a.url.split(':').length - b.url.split(':').length);
  if (route === undefined || route.declaration.requires === 'docs') return;
  const documented = route.url.replaceAll(/:(\w+)/g, '{$1}').replace('*', `{${wildcardOf(route.url)}}`);
  const isLate = headers['x-view-late'] === 'true';
  const given = { method: method.toLowerCase(), path: documented, status, mediaType, isLate, body };
  // Answers of the compatible API may be a provider's bytes.
  documentedAnswers().hold(route.url.startsWith('/api/compat/') ? given : { ...given, text });
  if (mediaType !== 'application/problem+json' || route.url.startsWith('/api/compat/')) return;
  const { code } = body as { code: string };
  if (!codesOf(method, route.url, route.declaration).includes(code))
    throw new Error(`${method} ${route.url} answers ${code}, which it does not declare. Add @Rejects('${code}').`);
};
const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/problem+json']);

const patterns = new Map<string, RegExp>();
/** Made once: every answer is compared with some 300 of them. */
const patternOf = (url: string): RegExp => {
  const pattern =
    patterns.get(url) ?? new RegExp(`^${url.replaceAll(/:\w+/g, '[^/?]+').replace('*', '.+')}/?(?:\\?|$)`);
  patterns.set(url, pattern);
  return pattern;
};

let users = 0;

/** `change` puts doubles in the place of what is outside of a process. */
const applicationWith =
  (change: (builder: TestingModuleBuilder) => TestingModuleBuilder): CreateApplication =>
  async (module, adapter, options) => {
    const building = Test.createTestingModule({ imports: [module] })
      .overrideProvider(LocalEmbeddings)
      .useValue(sharedEmbeddings())
      // The tests run on the same loop.
      .overrideProvider(LATE_MS)
      .useValue(Infinity);
    const testing = await change(building).compile();
    return testing.createNestApplication<NestFastifyApplication>(adapter, options);
  };

/** The whole product on a temporary folder, in this process. With `listen` it also takes connections on a free port. */
export const startTestPlatform = async (
  given: {
    environment?: Readonly<Record<string, string>>;
    listen?: boolean;
    dataDir?: string;
    logger?: Logger;
    change?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
  } = {},
): Promise<TestPlatform> => {
  const dataDir = given.dataDir ?? mkdtempSync(join(tmpdir(), 'platform-'));
  const environment = {
    LOG_LEVEL: 'silent',
    PORT: '0',
    DATA_DIR: dataDir,
    BOOTSTRAP_API_KEY: ADMIN_KEY,
    ...given.environment,
  };
  const config = readConfig(environment);
  const started = await startProgram(api, config, environment, given.logger ?? makeLogger(config.LOG_LEVEL), {
    createApplication: applicationWith(given.change ?? ((builder) => builder)),
    ...(given.listen === true
      ? { listen: async (app) => void (await app.listen({ host: config.HOST, port: config.PORT })) }
      : {}),
  });
  const platform = { ...started, host: hostOf(started.app) };
  const url = given.listen === true ? await platform.app.getUrl() : '';

  const call: TestPlatform['call'] = async <T>(
    path: string,
    { method = 'GET', key = ADMIN_KEY, headers = {}, body, payload }: Call = {},
  ) => {
    const sent = payload ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await platform.app.inject({
      method,
      url: path,
      headers: {
        ...(key === null ? {} : { 'x-api-key': key }),
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent === undefined ? {} : { payload: sent }),
    });
    const isJson = response.body !== '' && String(response.headers['content-type'] ?? '').includes('json');
    const answer = {
      status: response.statusCode,
      headers: response.headers,
      body: (isJson ? JSON.parse(response.body) : undefined) as T,
      text: response.body,
    };
    assertDocumented(platform.routes.routes, method, path, answer);
    return answer;
  };

  const newCaller: TestPlatform['newCaller'] = async ({
    role = 'member',
    permissions = [...PERMISSIONS_OF_ROLE[role]],
    agentIds = [],
    allAgents = true,
  } = {}) => {
    users += 1;
    const user = await call<{ id: string }>('/api/v1/core/users', {
      method: 'POST',
      body: { email: `user${users}@example.com`, name: `User ${users}`, role },
    });
    const key = await call<{ id: string; secret: string }>('/api/v1/core/api-keys', {
      method: 'POST',
      body: { name: 'test', agentIds, allAgents, permissions, userId: user.body.id },
    });
    if (key.status !== 201) throw new Error(`no key: ${key.text}`);
    return { userId: user.body.id, keyId: key.body.id, key: key.body.secret };
  };

  const stop: TestPlatform['stop'] = async ({ keep = false } = {}) => {
    await platform.stop();
    if (!keep) rmSync(dataDir, { recursive: true, force: true });
  };
  return { platform, dataDir, url, call, newCaller, stop };
};
