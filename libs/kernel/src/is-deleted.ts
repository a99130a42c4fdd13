import type { StreamReader } from './log-records';

/** True if the last event of a stream is the deletion of its aggregate. */
export const isDeleted = async (log: StreamReader, stream: string, type: string): Promise<boolean> =>
  (await log.readStream(stream, { direction: 'backwards', limit: 1 }))[0]?.type === type;
