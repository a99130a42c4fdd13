import type { MemoryScreener } from '@app/memory';
import { screen } from '@app/screening';
import type { ScreeningJudge } from './screening-judge';

/** The rule of what only the model flags. */
const JUDGED = 'screening-model';

/** Screens memories by the rules of this version of the program, and what they find safe by `SCREENING_MODEL`: it adds flags, and lifts none. */
export const memoryScreener = (judge?: Pick<ScreeningJudge, 'isUnsafe' | 'model'>): MemoryScreener => {
  const rescreen: MemoryScreener['rescreen'] = (text) => screen(text, 'memory');
  return {
    version: rescreen('').version,
    rescreen,
    screen: async (text, of) => {
      const screened = rescreen(text);
      if (judge === undefined || screened.verdict === 'flagged' || screened.canonical === '') return screened;
      const isUnsafe = await judge.isUnsafe(screened.canonical, of);
      return {
        ...screened,
        ...(isUnsafe ? { verdict: 'flagged' as const, rules: [JUDGED] } : {}),
        version: `${screened.version}+${judge.model}`,
      };
    },
  };
};
