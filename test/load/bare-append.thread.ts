import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

/** The baseline of `append.ts`: group commit with nothing around it. Rows of a message go into one commit with all that wait. */

export type BareRow = readonly [
  stream: string,
  revision: number,
  id: string,
  type: string,
  data: string,
  metadata: string,
];

const { file } = workerData as { file: string };
const database = new Database(file);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.pragma('wal_autocheckpoint = 4000');
database.pragma('cache_size = -65536');
database.exec(`
  CREATE TABLE events (position INTEGER PRIMARY KEY, stream TEXT NOT NULL, revision INTEGER NOT NULL, id TEXT NOT NULL,
    type TEXT NOT NULL, data TEXT NOT NULL, metadata TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
  CREATE UNIQUE INDEX events_by_stream ON events (stream, revision)`);
const insert = database.prepare(
  'INSERT INTO events (stream, revision, id, type, data, metadata, checksum) VALUES (?, ?, ?, ?, ?, ?, 0)',
);

parentPort?.on('message', (rows: BareRow[] | 'close') => {
  if (rows === 'close') {
    database.close();
    parentPort?.close();
    return;
  }
  for (
    let more = parentPort && receiveMessageOnPort(parentPort);
    more;
    more = parentPort && receiveMessageOnPort(parentPort)
  )
    rows.push(...(more.message as BareRow[]));
  database.exec('BEGIN IMMEDIATE');
  const positions = rows.map((row) => Number(insert.run(...row).lastInsertRowid));
  database.exec('COMMIT');
  parentPort?.postMessage(positions);
});
