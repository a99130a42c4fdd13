import { workerData } from 'node:worker_threads';
import { serveCalls } from '@app/kernel/threads';
import { VaultWriter } from './vault-writer';

const { folder, wrappingKey } = workerData as { readonly folder: string; readonly wrappingKey: Uint8Array };
serveCalls(new VaultWriter(folder, Buffer.from(wrappingKey)));
