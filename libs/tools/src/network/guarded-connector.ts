import type { LookupAddress, LookupOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { bareHost, isPublicIp } from './public-address';

/** The host is not on the public internet, or one of the addresses that its name stands for is not. */
export class AddressNotAllowed extends Error {
  override readonly name = 'AddressNotAllowed';
}

/** Finds the addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface GuardOptions {
  /** `host:port` of addresses that may be private (`TOOL_PRIVATE_HOSTS`). */
  readonly privateHosts: readonly string[];
  /** Longest time to connect, milliseconds. */
  readonly timeoutMs: number;
  /** By default the name servers of the machine. */
  readonly resolve?: Resolve;
}

/**
 * Connects to the public internet alone. A name is resolved here and its addresses are checked before the socket gets them, so no
 * second answer of its name server is ever used; any that is not public rejects them all. Fails with `AddressNotAllowed`.
 */
export const guardedConnector = ({
  privateHosts,
  timeoutMs,
  resolve = resolveByDns(timeoutMs),
}: GuardOptions): buildConnector.connector => {
  const allowed = new Set(privateHosts.map((host) => host.toLowerCase()));
  const open = buildConnector({ timeout: timeoutMs });
  const guarded = buildConnector({ timeout: timeoutMs, lookup: publicLookup(resolve) });
  return (options, callback) => {
    const host = bareHost(options.hostname).toLowerCase();
    const port = options.port || (options.protocol === 'https:' ? '443' : '80');
    if (allowed.has(`${host}:${port}`) || allowed.has(`[${host}]:${port}`)) return open(options, callback);
    // A socket looks no address up.
    if (isIP(host) !== 0 && !isPublicIp(host)) return callback(new AddressNotAllowed(), null);
    guarded(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      if (isPublicIp(socket.remoteAddress ?? '')) return callback(null, socket);
      socket.destroy();
      callback(new AddressNotAllowed(), null);
    });
  };
};

/** A lookup for sockets that answers public addresses alone: they connect to what it answers, and ask nobody again. */
export const publicLookup =
  (resolve: Resolve): LookupFunction =>
  (hostname, options: LookupOptions, callback) =>
    void resolve(hostname).then(
      (addresses) => {
        const first = addresses[0];
        if (first === undefined || !addresses.every(({ address }) => isPublicIp(address)))
          return callback(new AddressNotAllowed(), '');
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );

/** Asks name servers without `getaddrinfo`, which takes threads that files need, and reads the machine's own names. */
const resolveByDns =
  (timeoutMs: number): Resolve =>
  async (hostname) => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = answers.flatMap((answer, index) =>
      answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
    );
    const failed = answers.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
    if (found.length === 0 && failed !== undefined) throw failed.reason as Error;
    return found;
  };
