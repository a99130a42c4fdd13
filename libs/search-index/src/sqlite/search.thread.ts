import { workerData } from 'node:worker_threads';
import { serveCalls } from '@app/kernel/threads';
import { SearchFiles } from './search-files';

serveCalls(new SearchFiles((workerData as { readonly folder: string }).folder));
