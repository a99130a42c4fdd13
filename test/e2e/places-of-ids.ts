import type { ServedRoute } from '@app/http';
import { z } from 'zod';
import type { Call, TestPlatform } from './harness';
import { makeWorld, UNKNOWN_ID } from './world';

export type Ids = Readonly<Record<string, string>>;
interface Person {
  readonly key: string;
  readonly userId: string;
}

/** What has no id of its own in a world. */
const FIXED: Ids = { sourceId: 'src', path: 'a.md', callId: 'call', revision: '0' };

let numbers = 0;

/** A request with the ids of a world in its path and body. */
export const requestWith = (route: string, body: object | undefined, ids: Ids): Call & { readonly path: string } => {
  const [method, url] = route.split(' ') as ['POST', string];
  const all = { ...FIXED, ...ids };
  const filled = (text: string): string =>
    text.replace(/\*$/, ':path').replace(/:(\w+)/g, (found, name: string) => all[name] ?? found);
  numbers += 1;
  const payload = body === undefined ? {} : { payload: filled(JSON.stringify(body)).replaceAll('$n', `${numbers}`) };
  return { path: filled(url), method, ...payload };
};

/** Names of the ids that a request has. */
export const idsIn = (route: string, body?: object): readonly string[] => [
  ...new Set(
    [...`${route} ${JSON.stringify(body ?? {})}`.matchAll(/:(\w+)/g)]
      .map(([, name]) => name as string)
      .filter((name) => name.endsWith('Id') && !(name in FIXED)),
  ),
];

/** One of everything, made by somebody, with what `makeWorld` has not. */
export const worldOf = async (platform: TestPlatform, { key, userId }: Person): Promise<Ids> => {
  const call: TestPlatform['call'] = (path, given = {}) =>
    platform.call(path, { ...(path.endsWith('/users') ? {} : { key }), ...given });
  const { ids } = await makeWorld({ ...platform, call });
  const post = async (path: string, body: object) =>
    (await call<{ id: string }>(`/api/v1/core${path}`, { method: 'POST', body })).body.id;
  const limitedKeyId = await post('/api-keys', { name: 'Limited', permissions: [] });
  const entry = await call<{ activeVersionId: string }>(`/api/v1/core/marketplace/skills/${ids['entryId']}`);
  const { name: _, ...named } = ids;
  return { ...named, ownUserId: userId, limitedKeyId, entryVersionId: entry.body.activeVersionId };
};

/** The same with another id in one place, or one that nothing has. */
export const withId = (ids: Ids, name: string, id = UNKNOWN_ID): Ids => ({ ...ids, [name]: id });

interface Schema {
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** The fields of a route's body, and of what is in it, that take an id. */
export const idFieldsOf = ({ declaration }: ServedRoute): readonly string[] => {
  if (declaration.body === undefined) return [];
  const found = new Set<string>();
  const walk = ({ format, properties = {}, items, anyOf = [], oneOf = [] }: Schema, field: string): void => {
    if (format === 'uuid') found.add(field);
    for (const [name, property] of Object.entries(properties)) walk(property, name);
    for (const each of [...(items === undefined ? [] : [items]), ...anyOf, ...oneOf]) walk(each, field);
  };
  walk(z.toJSONSchema(declaration.body.schema, { io: 'input', unrepresentable: 'any' }) as Schema, '');
  return [...found];
};
