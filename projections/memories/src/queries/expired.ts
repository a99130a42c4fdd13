import type { MemoryRow } from '../memories.projection';

/** A proposal that nobody can choose any more: it is over at that moment, not when somebody has looked. */
export const isExpired = ({ status, expiresAt }: MemoryRow, now: Date): boolean =>
  status === 'proposed' && expiresAt !== null && Date.parse(expiresAt) <= now.getTime();
