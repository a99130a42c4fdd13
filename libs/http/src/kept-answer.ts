import { createHmac } from 'node:crypto';
import {
  categoryOf,
  type DataKey,
  dataKeyPlace,
  decryptField,
  encryptField,
  type EncryptedField,
  idOf,
  isDomainError,
  isEncrypted,
  type Keyring,
  reject,
} from '@app/kernel';

/** An answer that was given: without secrets, its body encrypted under the data key of the aggregate that was written, and of what it was made from. */
export type KeptAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly thing: string | null;
  /** Names of further keys, all of which the body is under. */
  readonly madeFrom?: readonly string[];
  readonly body: EncryptedField | null;
};

export interface Replay {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The stream that the body tells of; absent where there is none. */
  readonly stream?: string;
}

/** An answer to be kept: what a repeat may see of it, and the names of the data keys that it is under. */
export interface AnswerToKeep {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly keyName: string;
  readonly madeFrom?: readonly string[];
  readonly body: string | null;
}

/** The answer as it is kept under a name; undefined where a key that it would be under is destroyed. */
export const keptAnswerOf = async (
  keyring: Keyring,
  name: string,
  { status, headers, keyName, madeFrom = [], body }: AnswerToKeep,
): Promise<KeptAnswer | undefined> => {
  if (body === null) return { status, headers, thing: null, body };
  const keys = await keysOf(keyring, keyName, madeFrom);
  return (
    keys && {
      status,
      headers,
      thing: keyName,
      ...(madeFrom.length > 0 && { madeFrom }),
      body: encryptField(united(keys), name, body),
    }
  );
};

/** The kept answer as a repeat gets it. Rejects `not_found` where a key that it is under is destroyed. */
export const replayOf = async (
  keyring: Keyring,
  name: string,
  { status, headers, thing, madeFrom = [], body }: KeptAnswer,
): Promise<Replay> => {
  if (thing === null || !isEncrypted(body)) return { status, headers, body: null };
  const names = [thing, ...madeFrom];
  const keys = await keyring.keys(names);
  const gone = names.find((each) => !keys.has(each));
  if (gone !== undefined) return reject('not_found', placeOf(gone));
  return {
    status,
    headers,
    body: decryptField(united(names.map((each) => keys.get(each) as DataKey)), name, body) as string,
    stream: dataKeyPlace(thing).stream,
  };
};

/** Undefined where one is destroyed. Messages of before 1.6 have none yet: what is made from them goes with them all the same. */
const keysOf = async (
  keyring: Keyring,
  keyName: string,
  madeFrom: readonly string[],
): Promise<readonly DataKey[] | undefined> => {
  const key = (await keyring.keys([keyName])).get(keyName);
  if (key === undefined) return undefined;
  try {
    return [key, ...(await Promise.all(madeFrom.map((each) => keyring.ensureKey(each, {}))))];
  } catch (error) {
    if (isDomainError(error, 'not_found')) return undefined;
    throw error;
  }
};

/** One key that nobody has without all of these. */
const united = (keys: readonly DataKey[]): DataKey => {
  const [first, ...others] = keys as readonly [DataKey, ...DataKey[]];
  return others.reduce((sum, key) => createHmac('sha256', sum).update(key).digest(), first);
};

/** What a data key belongs to, for an error. */
const placeOf = (keyName: string): { readonly kind: string; readonly id: string } => {
  const { stream, entity } = dataKeyPlace(keyName);
  return entity === undefined ? { kind: categoryOf(stream), id: idOf(stream) } : { kind: 'message', id: entity };
};
