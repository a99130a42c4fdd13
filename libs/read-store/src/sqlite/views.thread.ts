import { workerData } from 'node:worker_threads';
import { serveCalls } from '@app/kernel/threads';
import { ViewsWriter } from './views-writer';

serveCalls(new ViewsWriter((workerData as { readonly folder: string }).folder));
