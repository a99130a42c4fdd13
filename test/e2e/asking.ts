export interface Request {
  readonly path: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks one API process as the admin. The body is parsed; undefined where there is none. */
export type Ask = <T = Readonly<Record<string, unknown>>>(
  request: Request,
) => Promise<{ readonly status: number; readonly body: T }>;
