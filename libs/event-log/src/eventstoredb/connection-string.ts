import { randomUUID, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { type ConnectionOptions, parseConnectionString } from '@eventstore/db-client/dist/Client/parseConnectionString';
import { InvalidConfig } from '@app/kernel';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface TlsFiles {
  /** PEM of the trusted authorities; undefined: those that Node trusts. */
  readonly authority: Buffer | undefined;
  /** The client certificate, for a server that asks for one. */
  readonly user: { readonly certificate: Buffer; readonly key: Buffer } | undefined;
}

/** Where the servers are and how to connect to them. */
export interface ServerAddress {
  /** At least one. */
  readonly endpoints: readonly Endpoint[];
  /** Find the leader first: the string names several nodes, or `+discover`. */
  readonly discovers: boolean;
  /** Undefined: without TLS and without a user. */
  readonly tls: TlsFiles | undefined;
  /** The credentials of the user. Secret. */
  readonly authorization: string | undefined;
  /** Names this process in the server's log. */
  readonly connectionName: string;
  /** Milliseconds of silence after which the server is pinged, and after which an unanswered ping ends the connection. */
  readonly keepAlive: { readonly interval: number; readonly timeout: number };
}

const KEEP_ALIVE_MS = 10_000;
const NEVER = 0x7fffffff;
/** Check for it before the parser, which gives advice of its own. */
const NOT_VERIFYING = /[?&]tls[_-]?verify[_-]?cert=false(&|$)/i;
const UNREADABLE_USER =
  'EVENTSTORE_URL has an unreadable user. Write user:password@host, with % as %25, @ as %40 and : as %3A.';

/**
 * Parses `esdb://user:password@host:port,host:port?tls=true&tlsCAFile=...` as the client of EventStoreDB does.
 * Ignores its options about deadlines and discovery. Throws `InvalidConfig` without repeating the string, which
 * contains a password.
 */
export const readConnectionString = (url: string): ServerAddress => {
  const { user, rest } = withoutUser(url.trim().replace(/^kurrentdb/, 'esdb'));
  if (NOT_VERIFYING.test(rest)) {
    throw new InvalidConfig(
      'EVENTSTORE_URL says tlsVerifyCert=false, but certificates are always verified. Remove it, and set tlsCAFile to the certificate of the authority.',
    );
  }
  const options = parsed(rest);
  const isSecure = options.tls !== false;
  return {
    endpoints: options.hosts.map(({ address, port }) => ({ host: address, port })),
    discovers: options.dnsDiscover || options.hosts.length > 1,
    tls: isSecure ? tlsFiles(options) : undefined,
    authorization: isSecure && user !== undefined ? `Basic ${Buffer.from(user).toString('base64')}` : undefined,
    connectionName: options.connectionName ?? randomUUID(),
    keepAlive: {
      interval: keepAliveMs('keepAliveInterval', options.keepAliveInterval),
      timeout: keepAliveMs('keepAliveTimeout', options.keepAliveTimeout),
    },
  };
};

/** Takes out the user, as `name:password`: the parser prints what it rejects. */
const withoutUser = (url: string): { readonly user: string | undefined; readonly rest: string } => {
  const [, scheme, name, password, after = ''] = /^([^:]+:\/\/)([^:]+):([^@]+)@(.*)$/s.exec(url) ?? [];
  const isNamed = scheme !== undefined && name !== undefined && password !== undefined;
  const rest = isNamed ? `${scheme}${after}` : url;
  if (/^[^?]*@/.test(rest)) throw new InvalidConfig(UNREADABLE_USER);
  if (!isNamed) return { user: undefined, rest };
  try {
    return { user: `${decodeURIComponent(name)}:${decodeURIComponent(password)}`, rest };
  } catch {
    throw new InvalidConfig(UNREADABLE_USER);
  }
};

const parsed = (url: string): ConnectionOptions => {
  try {
    return parseConnectionString(url);
  } catch {
    throw new InvalidConfig(
      'EVENTSTORE_URL is not a valid connection string. Use esdb://user:password@host:2113?tls=true.',
    );
  }
};

const tlsFiles = ({ tlsCAFile, userCertFile, userKeyFile }: ConnectionOptions): TlsFiles => {
  const authority = tlsCAFile === undefined ? undefined : certificateFile('tlsCAFile', tlsCAFile);
  if ((userCertFile === undefined) !== (userKeyFile === undefined))
    throw new InvalidConfig('EVENTSTORE_URL must name both userCertFile and userKeyFile, or neither.');
  const user =
    userCertFile === undefined || userKeyFile === undefined
      ? undefined
      : {
          certificate: certificateFile('userCertFile', userCertFile),
          key: certificateFile('userKeyFile', userKeyFile),
        };
  try {
    // TLS would ignore an invalid authority, and trust nobody.
    if (authority !== undefined) new X509Certificate(authority);
    createSecureContext({ cert: user?.certificate, key: user?.key });
  } catch (error) {
    throw new InvalidConfig(
      'EVENTSTORE_URL names a certificate that cannot be used: tlsCAFile, userCertFile and userKeyFile must be PEM files.',
      { cause: error },
    );
  }
  return { authority, user };
};

const certificateFile = (option: string, path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new InvalidConfig(
      `EVENTSTORE_URL names a certificate that cannot be read: ${option} (${(error as NodeJS.ErrnoException).code ?? 'failed'}).`,
      { cause: error },
    );
  }
};

const keepAliveMs = (option: string, given = KEEP_ALIVE_MS): number => {
  if (given === -1) return NEVER;
  if (given < 1) throw new InvalidConfig(`EVENTSTORE_URL: ${option} must be a number of milliseconds, or -1 for none.`);
  return given;
};
