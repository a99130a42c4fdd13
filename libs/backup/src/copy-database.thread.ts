import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

/** Copies one database as it is at this moment, while others read and write it. In a thread, since it is one long call. */
const { from, to } = workerData as { from: string; to: string };
const database = new Database(from, { readonly: true, fileMustExist: true, timeout: 10_000 });
const pages = database.pragma('page_count', { simple: true }) as number;
const free = database.pragma('freelist_count', { simple: true }) as number;
parentPort?.postMessage({ bytes: (pages - free) * (database.pragma('page_size', { simple: true }) as number) });
database.prepare('VACUUM INTO ?').run(to);
database.close();
