import type { Position } from '@app/kernel';
import { versionText } from './index-names';
import { Backoff, failureOfStatus, type Server } from './server';

/** Size of one request, characters: large enough for full speed, far below the server's limit of 100 MB. */
const REQUEST_BYTES = 4 * 1024 ** 2;
const TIMEOUT_MS = 60_000;
const RETRY_MS = 60_000;

/** A record to write or delete, unless a newer one is stored. */
export interface RecordWrite {
  readonly id: string;
  readonly position: Position;
  /** Absent: delete the record. */
  readonly record?: object;
}

interface BulkAnswer {
  readonly errors: boolean;
  readonly items: readonly Readonly<
    Record<string, { readonly status: number; readonly error?: { readonly type: string } }>
  >[];
}

/**
 * Writes records in the order given, each with its position as external version: one that is there with a newer position
 * stays (409), one with the same is written again. What a busy server turned away is sent again. Throws `Unavailable`, or a
 * `Rejection` for a record that the server will never take; others may be written then.
 */
export const writeRecords = async (
  server: Server,
  alias: string,
  writes: Iterable<RecordWrite>,
  retryMs = RETRY_MS,
): Promise<void> => {
  let lines: string[] = [];
  let bytes = 0;
  for (const write of writes) {
    const line = linesOf(write);
    if (bytes + line.length > REQUEST_BYTES && lines.length > 0) {
      await send(server, alias, lines, retryMs);
      [lines, bytes] = [[], 0];
    }
    lines.push(line);
    bytes += line.length;
  }
  if (lines.length > 0) await send(server, alias, lines, retryMs);
};

const linesOf = ({ id, position, record }: RecordWrite): string => {
  const action = `{"${record === undefined ? 'delete' : 'index'}":{"_id":${JSON.stringify(id)},"version":${versionText(position)},"version_type":"external_gte"}}\n`;
  return record === undefined ? action : `${action}${JSON.stringify(record)}\n`;
};

const send = async (server: Server, alias: string, lines: readonly string[], retryMs: number): Promise<void> => {
  const backoff = new Backoff(retryMs);
  for (let waiting = lines; ;) {
    const failures = failuresOf(await request(server, alias, waiting, retryMs));
    const busy = [...failures].filter(([, { status }]) => status === 429 || status === 503);
    const [other] = [...failures.values()].filter(({ status }) => status !== 429 && status !== 503);
    if (other !== undefined) throw failureOfStatus(other.status, other.type);
    const [rejected] = busy;
    if (rejected === undefined) return;
    if (!(await backoff.pause())) throw failureOfStatus(rejected[1].status, rejected[1].type);
    waiting = busy.map(([index]) => waiting[index] as string);
  }
};

const request = (server: Server, alias: string, lines: readonly string[], retryMs: number): Promise<BulkAnswer> =>
  server.call({ timeoutMs: TIMEOUT_MS, retryMs }, (client, options) =>
    client.transport.request<BulkAnswer>(
      {
        method: 'POST',
        path: `/${alias}/_bulk`,
        bulkBody: lines.join(''),
        querystring: { require_alias: true, filter_path: 'errors,items.*.status,items.*.error.type' },
      },
      options,
    ),
  );

/** Failures by place in the request. A newer record (409) and a missing record to delete (404) are fine. */
const failuresOf = ({
  errors,
  items,
}: BulkAnswer): ReadonlyMap<number, { readonly status: number; readonly type: string }> => {
  const failures = new Map<number, { readonly status: number; readonly type: string }>();
  if (!errors) return failures;
  for (const [index, item] of items.entries()) {
    const [[action, { status, error }] = ['none', { status: 500 }]] = Object.entries(item);
    const fine = status < 300 || status === 409 || (status === 404 && action === 'delete' && error === undefined);
    if (!fine) failures.set(index, { status, type: error?.type ?? 'without a type' });
  }
  return failures;
};
