import { workerData } from 'node:worker_threads';
import { serveCalls } from '@app/kernel';
import { SearchFiles } from './search-files';

serveCalls(new SearchFiles((workerData as { readonly folder: string }).folder));
