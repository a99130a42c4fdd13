import type { EventEmitter } from 'node:events';
import type { Metadata } from '@grpc/grpc-js';
import type { Faults } from './faults';
import type { ServerLog } from './server-log';
import { accessDenied, type Failure, notLeader, refused, unavailable, wrongPassword } from './statuses';

/** What all calls share. */
export interface Serving {
  readonly log: ServerLog;
  readonly faults: Faults;
  readonly version: ServerVersion;
  /** Most bytes of one append. */
  readonly maxAppendSize: number;
  /** Most bytes of one event in it. */
  readonly maxEventSize: number;
  /** How long the server waits for the rest of an append, in milliseconds. */
  readonly writeTimeoutMs: number;
  /** Passwords by name; absent where everyone may do everything, as on an insecure server. */
  readonly users: Readonly<Record<string, string>> | undefined;
  /** Users who may not read `$all`. */
  readonly mayNotReadAll: ReadonlySet<string>;
  /** Ends the subscriptions that are open, by how they fail. */
  readonly listeners: Set<(failure: Failure) => void>;
}

/** When a caller hears that its append was dropped: the commit timeout of a server as it comes. */
export const COMMIT_TIMEOUT_MS = 2_000;

export type ServerVersion = '23.10.6' | '24.10.4';

/** Whose call it is: `anonymous` may do nothing where there are users, `stranger` gave a wrong password. */
export const callerOf = (users: Serving['users'], metadata: Metadata): 'known' | 'anonymous' | 'stranger' => {
  if (users === undefined) return 'known';
  const credentials = credentialsIn(metadata);
  if (credentials === undefined) return 'anonymous';
  return users[credentials.name] === credentials.password ? 'known' : 'stranger';
};

/** Whether the caller may not read `$all`. */
export const isKeptFromAll = ({ mayNotReadAll }: Pick<Serving, 'mayNotReadAll'>, metadata: Metadata): boolean =>
  mayNotReadAll.has(credentialsIn(metadata)?.name ?? '');

const credentialsIn = (metadata: Metadata): { readonly name: string; readonly password: string } | undefined => {
  const [header] = metadata.get('authorization');
  if (header === undefined) return undefined;
  const [name = '', ...password] = Buffer.from(String(header).replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':');
  return { name, password: password.join(':') };
};

/** How a call fails before it begins, if it does. */
export const refusalOf = ({ faults, users }: Serving, metadata: Metadata, isWrite: boolean): Failure | undefined => {
  if (faults.isUnavailable) return unavailable;
  const caller = callerOf(users, metadata);
  if (caller === 'stranger') return wrongPassword;
  if (caller === 'anonymous') return accessDenied;
  if (faults.refusal !== null) return refused(faults.refusal);
  const requiresLeader = metadata.get('requires-leader')[0] === 'true';
  return faults.leader !== null && (isWrite || requiresLeader) ? notLeader(faults.leader) : undefined;
};

/** Ends a streaming call with a failure. */
export const fail = (call: EventEmitter, failure: Failure): void => void call.emit('error', failure);

/** Resolves when the call takes more, or is over. */
export const drained = (call: EventEmitter): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      call.off('drain', done);
      call.off('close', done);
      resolve();
    };
    call.on('drain', done);
    call.on('close', done);
  });
