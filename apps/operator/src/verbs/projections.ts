import type { PlatformClient } from '../platform-client';

/** A view as `GET /operations/projections` shows it. */
export interface ProjectionStatus {
  readonly name: string;
  readonly version: number;
  readonly state: 'live' | 'catching-up' | 'rebuilding' | 'paused' | 'stopped';
  readonly position: string | null;
  readonly head: string | null;
  readonly lagEvents: number;
  readonly lagSeconds: number;
  readonly rows: number;
  readonly deadLetters: number;
  readonly rebuild?: RebuildStatus;
}

export const OPERATIONS = '/api/v1/operations';

export const projectionPath = (name: string): string => `${OPERATIONS}/projections/${encodeURIComponent(name)}`;

export const allProjections = async (api: PlatformClient): Promise<readonly ProjectionStatus[]> => {
  const found: ProjectionStatus[] = [];
  for await (const projection of api.list<ProjectionStatus>(`${OPERATIONS}/projections`)) found.push(projection);
  return found;
};
