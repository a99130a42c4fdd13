import type { ServiceError } from '@grpc/grpc-js';
import { AccessDenied, Unavailable } from '@app/kernel';

export const LOG_DEPENDENCY = 'event log';

/** Why a connection fails. Each can be fixed by somebody. */
const NO_CONNECTION = {
  unreachable: 'the server cannot be reached',
  unresolved: 'the name of the server cannot be resolved: check the host in the connection string',
  untrusted:
    'the certificate of the server is not trusted: set tlsCAFile in the connection string to the certificate of its authority',
  misnamed: 'the certificate of the server is for other names: use one of them as the host in the connection string',
  expired: 'the certificate of the server is not valid at this time: renew it, or set the clock',
  speaksPlain:
    'the server does not use TLS, but the connection string does: set tls=false, or give the server a certificate',
  speaksTls:
    'the server uses TLS, but the connection string says tls=false: set tls=true, and tlsCAFile to the certificate of the authority',
  leaderless: 'the cluster has no leader',
};

const REASONS = {
  ...NO_CONNECTION,
  broken: 'the connection to the server broke',
  dropped: 'the server ended a call',
  thrown: 'the server ended a call with an error of its own',
  late: 'the server did not answer in time',
  slow: 'the server is slow: it has not answered for 1.5 s',
  lost: 'the answer of the server was lost',
  notReady: 'the server is not ready',
  busy: 'the server has too much to do',
  notLeader: 'the server is not the leader of its cluster',
  denied: 'the server rejects the user',
  allDenied: 'the user may not read $all, the stream of all events: use a user who may, such as a member of $admins',
  tombstoned: 'the stream was deleted for good',
  invalidPosition: 'not a position of this log',
  closed: 'it is closed',
  failed: 'the server failed',
};

/** The kinds of failed calls. */
export type Fault = keyof typeof REASONS;

/** gRPC's status codes. */
const FAULT_OF_CODE: Readonly<Record<number, Fault>> = {
  1: 'broken',
  4: 'late',
  7: 'denied',
  10: 'dropped',
  14: 'broken',
  16: 'denied',
};
const PERMISSION_DENIED = 7;
/** What the server states in the metadata of an answer. */
const FAULT_OF_EXCEPTION: Readonly<Record<string, Fault>> = {
  'not-leader': 'notLeader',
  'access-denied': 'denied',
  'stream-deleted': 'tombstoned',
};
/** Transient faults: the same call may succeed a moment later. */
const PASSING: ReadonlySet<string> = new Set([
  ...Object.keys(NO_CONNECTION),
  'broken',
  'dropped',
  'thrown',
  'late',
  'lost',
  'notReady',
  'busy',
  'notLeader',
]);

/** Faults by which the server says that it did nothing, or was not asked. */
const HARMLESS: ReadonlySet<Fault> = new Set(['notReady', 'busy', 'denied', 'closed']);

/** A call that failed. */
export class ServerFault extends Error {
  override readonly name = 'ServerFault';

  constructor(
    readonly fault: Fault,
    options?: ErrorOptions,
  ) {
    super(REASONS[fault], options);
  }

  get isPassing(): boolean {
    return PASSING.has(this.fault);
  }

  /** True if the call cannot have reached the log. */
  get isHarmless(): boolean {
    return this.fault in NO_CONNECTION || HARMLESS.has(this.fault);
  }

  /** True if the server rejects the user, or what the user tries to read. */
  get isDenied(): boolean {
    return this.fault === 'denied' || this.fault === 'allDenied';
  }
}

/** Translates an error of the transport. Any other error counts as a failed call too: nothing else runs inside it. */
export const serverFault = (error: unknown): ServerFault =>
  error instanceof ServerFault ? error : new ServerFault(faultOf(error as Partial<ServiceError>), { cause: error });

/** What a rejected read of `$all` means: who is known and may not read it may read and write streams all the same. */
export const allFault = (fault: ServerFault): ServerFault =>
  fault.fault === 'denied' && (fault.cause as Partial<ServiceError> | undefined)?.code === PERMISSION_DENIED
    ? new ServerFault('allDenied', { cause: fault.cause })
    : fault;

export const unavailable = (error: ServerFault, outcome: 'none' | 'unknown' = 'none'): Unavailable =>
  error.isDenied
    ? new AccessDenied(LOG_DEPENDENCY, error.message, outcome, { cause: error })
    : new Unavailable(LOG_DEPENDENCY, error.message, outcome, { cause: error });

const faultOf = ({ code, details = '', metadata }: Partial<ServiceError>): Fault => {
  const exception = metadata?.get('exception')[0];
  const named = exception === undefined ? undefined : FAULT_OF_EXCEPTION[String(exception)];
  if (named !== undefined) return named;
  if (/ReadAllResult: (InvalidPosition|Error)|invalid position/.test(details)) return 'invalidPosition';
  const rejection = rejectionIn(details);
  if (rejection !== undefined) return rejection;
  if (code === 14 && /^(No connection established|Name resolution failed)/.test(details)) return 'unreachable';
  // A server that is stopped throws in the middle of calls, or resets them.
  if (code === 2 && details.startsWith('Exception was thrown by handler')) return 'thrown';
  if (code === 13 && details.startsWith('Received RST_STREAM')) return 'broken';
  return FAULT_OF_CODE[code ?? -1] ?? 'failed';
};

/** How a server words that it takes no calls now: it starts, votes, or has a full queue. */
export const rejectionIn = (text: string): 'notReady' | 'busy' | undefined => {
  if (/Is (Too )?Busy/i.test(text)) return 'busy';
  return /Not ?Ready|No leader info/i.test(text) ? 'notReady' : undefined;
};
