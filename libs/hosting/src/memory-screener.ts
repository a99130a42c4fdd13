import type { MemoryScreener } from '@app/memory';
import { screen } from '@app/screening';

/** Screens memories by the rules of this version of the program. */
export const memoryScreener = (): MemoryScreener => {
  const rescreen: MemoryScreener['rescreen'] = (text) => screen(text, 'memory');
  return { version: rescreen('').version, rescreen, screen: async (text) => rescreen(text) };
};
