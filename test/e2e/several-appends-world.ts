import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@app/kernel';
import { invocation, recordInvocations } from '../fixtures/invocations';
import { wholeLog } from '../fixtures/whole-log';
import { ADMIN_KEY, type Answer, startTestPlatform, type TestPlatform } from './harness';

export const CORE = '/api/v1/core';
export const OPERATIONS = '/api/v1/operations';
/** Longer than others have to wait for what is left unfinished: names, answers, restatements. */
const LATER_MS = 120_000;

export interface Sent {
  readonly method?: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
  /** Sent as it is, and never repeated: uploads take no Idempotency-Key. */
  readonly payload?: string | Buffer;
}

/** A request on resources of its own, so that it can be broken again and again. */
export interface Prepared {
  readonly sent: Sent;
  /** How often it happened, however far it came. */
  readonly times: () => Promise<number>;
  /** Where it happened all of it is there; where it did not nothing of it is in the way of others. */
  readonly isConsistent: () => Promise<boolean>;
  /** What a repeat shows otherwise than the answer that it repeats. */
  readonly forgotten?: object;
}

export let platform: TestPlatform;
export let agentId: string;
let names = 0;
let file: string;
export const BOUNDARY = 'several';

export const nextNumber = (): number => (names += 1);
export const name = (kind: string): string => `${kind}-${nextNumber()}`;
export const stores = () => platform.platform.host.stores;
export const made = async (path: string, body: object, key = ADMIN_KEY): Promise<string> => {
  const {
    status,
    body: answer,
    text,
  } = await platform.call<{ id: string }>(`${CORE}${path}`, { method: 'POST', body, key });
  if (status !== 201) throw new Error(`${path}: ${text}`);
  return answer.id;
};
export const items = async <T = { id: string; name: string }>(path: string, key = ADMIN_KEY): Promise<readonly T[]> =>
  (await platform.call<{ items: T[] }>(path, { key })).body.items;
/** How many events of a type have a text in their stream, data or metadata. */
export const events = async (type: string, text: string): Promise<number> => {
  const found = await wholeLog(stores().log, { filter: { types: [type] } });
  return found.filter(({ stream, data, metadata }) => [stream, data, metadata].some((part) => part.includes(text)))
    .length;
};
/** When whatever was left unfinished may be finished by others. */
export const later = async <T>(work: () => Promise<T>): Promise<T> => {
  const clock = jest.spyOn(systemClock, 'now').mockImplementation(() => new Date(Date.now() + LATER_MS));
  try {
    return await work();
  } finally {
    clock.mockRestore();
  }
};
/** Whether somebody else may have what a request wanted. */
export const isFree = async (path: string, body: object): Promise<boolean> => {
  const answer = await later(() => platform.call<{ id: string }>(`${CORE}${path}`, { method: 'POST', body }));
  if (answer.status === 201) await platform.call(`${CORE}${path}/${answer.body.id}`, { method: 'DELETE' });
  return answer.status === 201;
};
export const catalogue = (displayName: string): void => {
  const models = ['one', 'two'].map((key) => ({
    key,
    displayName: `${displayName} ${key}`,
    provider: 'acme',
    kind: 'chat',
    pricing: 'free',
  }));
  writeFileSync(
    file,
    JSON.stringify({ providers: { acme: { kind: 'openai', baseUrl: 'http://127.0.0.1:1' } }, models }),
  );
};

/** How a request is sent, under more headers. */
export const sendOf =
  ({ method = 'POST', path, body, key = ADMIN_KEY, payload }: Sent, given: Readonly<Record<string, string>> = {}) =>
  (headers: Readonly<Record<string, string>>): Promise<Answer> =>
    platform.call(path, {
      method,
      key,
      ...(body === undefined ? {} : { body }),
      ...(payload === undefined ? {} : { payload }),
      headers: {
        ...headers,
        ...given,
        ...(payload === undefined ? {} : { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }),
      },
    });
export const isDone = ({ status }: Answer): boolean => status >= 200 && status < 300;

/** Starts a platform whose models can be given anew. */
export const withModels = (): void => {
  const folder = mkdtempSync(join(tmpdir(), 'several-'));
  beforeAll(async () => {
    file = join(folder, 'models.json');
    catalogue('first');
    platform = await startTestPlatform({ environment: { MODELS_FILE: file } });
    agentId = await made('/agents', { name: 'Guide', knowledgeEnabled: false });
    await recordInvocations(
      platform.platform,
      [1, 2, 3].map((number) => invocation(number, { at: '2026-11-01T00:00:00.000Z' })),
    );
  });
  afterAll(async () => {
    await platform.stop();
    rmSync(folder, { recursive: true });
  });
};
