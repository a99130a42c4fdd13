import type { PlatformClient } from './platform-client';

/** A view as `GET /operations/projections` shows it. */
export interface ProjectionStatus {
  readonly name: string;
  readonly version: number;
  readonly state: 'live' | 'catching-up' | 'rebuilding' | 'paused' | 'stopped';
  readonly position: string | null;
  readonly head: string | null;
  /** Null where it is not known. */
  readonly lagEvents: number | null;
  /** Null where it is not known. */
  readonly lagSeconds: number | null;
  readonly rows: number;
  readonly deadLetters: number;
  readonly rebuild?: RebuildStatus;
}

/** A build beside the one that is served. */
export interface RebuildStatus {
  readonly version: number;
  readonly done: number;
  readonly total: number;
  /** Events a second. */
  readonly rate: number;
  readonly etaSeconds: number | null;
  readonly state: 'building' | 'paused' | 'failed' | 'verifying' | 'ready' | 'swapped' | 'removing';
  readonly failure?: {
    readonly eventId?: string;
    readonly type?: string;
    readonly stream?: string;
    readonly revision?: number;
    readonly reason: string;
    readonly detail: string;
  };
  readonly verification?: Verification;
}

/** The new build compared with the one that is served, both at the same position. */
export interface Verification {
  readonly equal: boolean;
  readonly rows: number;
  readonly liveRows: number;
  /** SHA-256 over all rows, hex. */
  readonly checksum: string;
  readonly differences: number;
  readonly listed: readonly { readonly key: string; readonly difference: string }[];
}

export const OPERATIONS = '/api/v1/operations';

export const projectionPath = (name: string): string => `${OPERATIONS}/projections/${encodeURIComponent(name)}`;

export const allProjections = async (api: PlatformClient): Promise<readonly ProjectionStatus[]> =>
  (await api.json<{ items: readonly ProjectionStatus[] }>(`${OPERATIONS}/projections`)).items;
