import type { StreamLog } from '@app/kernel';

/** True where the last event of a stream is the one that ends its thing. */
export const isDeleted = async (log: StreamLog, stream: string, type: string): Promise<boolean> =>
  (await log.readStream(stream, { direction: 'backwards', limit: 1 }))[0]?.type === type;
