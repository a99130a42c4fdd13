import { workerData } from 'node:worker_threads';
import { serveCalls } from '@app/kernel/threads';
import { EntriesWriter } from './entries-writer';

serveCalls(new EntriesWriter((workerData as { readonly folder: string }).folder));
