import { connect as connectHttp2 } from 'node:http2';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Endpoint, TlsFiles } from './connection-string';
import type { Fault } from './server-errors';
import { targetOf } from './transport';

/** Milliseconds for each check of a server. */
const LOOK_MS = 1_000;

/**
 * Finds out why a server cannot be reached, which gRPC reports in words of other libraries: connects once more
 * without sending anything, and checks the protocol and the certificate of the server.
 */
export const whyUnreachable = async (endpoint: Endpoint, tls: TlsFiles | undefined): Promise<Fault> => {
  if (!(await isResolved(endpoint))) return 'unresolved';
  const shown = await certificateOf(endpoint, tls);
  if (shown === undefined) return tls !== undefined && (await speaksHttp2(endpoint)) ? 'speaksPlain' : 'unreachable';
  return tls === undefined ? 'speaksTls' : shown;
};

const isResolved = ({ host }: Endpoint): Promise<boolean> =>
  lookup(host).then(
    () => true,
    () => false,
  );

/** What is wrong with a server's certificate; `unreachable` if nothing is; undefined if it does not use TLS. */
const certificateOf = (endpoint: Endpoint, tls: TlsFiles | undefined): Promise<Fault | undefined> =>
  looked<Fault>((found) => {
    // The certificate is looked at here, and nothing is sent: rejected at once, it could not be told from a server without TLS.
    const socket: TLSSocket = connectTls(
      {
        host: endpoint.host,
        port: endpoint.port,
        servername: isIP(endpoint.host) > 0 ? '' : endpoint.host,
        ALPNProtocols: ['h2'],
        rejectUnauthorized: false,
        ca: tls?.authority,
        cert: tls?.user?.certificate,
        key: tls?.user?.key,
      },
      () => found(faultOf(socket)),
    );
    socket.on('error', () => found(undefined));
    return () => socket.destroy();
  });

/** True if a server answers HTTP/2 without TLS. */
const speaksHttp2 = async (endpoint: Endpoint): Promise<boolean> =>
  (await looked<true>((found) => {
    const session = connectHttp2(`http://${targetOf(endpoint)}`);
    session.on('remoteSettings', () => found(true));
    session.on('error', () => found(undefined));
    session.on('close', () => found(undefined));
    return () => session.destroy();
  })) ?? false;

const faultOf = ({ authorized, authorizationError }: TLSSocket): Fault =>
  authorized ? 'unreachable' : (FAULT_OF_VERIFICATION[String(authorizationError)] ?? 'untrusted');

/** What Node calls a certificate that it does not accept, other than for its authority. */
const FAULT_OF_VERIFICATION: Readonly<Record<string, Fault>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'misnamed',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'expired',
};

/** The result of a check; undefined if it takes too long. */
const looked = async <T>(look: (found: (what: T | undefined) => void) => () => void): Promise<T | undefined> => {
  let end = (): unknown => undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<T | undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), LOOK_MS);
      end = look(resolve);
    });
  } finally {
    clearTimeout(timer);
    end();
  }
};
