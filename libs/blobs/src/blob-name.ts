import { randomBytes } from 'node:crypto';
import type { BlobName } from './blobs';

const NAME = /^[0-9a-f]{32}$/;

export const newBlobName = (): BlobName => randomBytes(16).toString('hex');

/** Names from elsewhere are looked at before they become a path or a key. */
export const isBlobName = (text: string): text is BlobName => NAME.test(text);
