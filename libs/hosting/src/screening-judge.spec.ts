import { tmpdir } from 'node:os';
import { Models } from '@app/models';
import { ScreeningJudge, type ScreeningJudgeParts } from './screening-judge';

it.each(['local-chat', 'local-embedding', 'nothing-of-the-kind'])('stops the start where %s is to judge', (key) => {
  const models = Models.open({ MODELS_FILE: undefined, DEFAULT_CURRENCY: 'USD', DATA_DIR: tmpdir() }, {});
  const parts = { models } as ScreeningJudgeParts;
  expect(() => new ScreeningJudge(key, parts)).toThrow(
    expect.objectContaining({
      name: 'InvalidConfig',
      message: `SCREENING_MODEL must be the key of a chat model in MODELS_FILE that a provider runs; "${key}" is none.`,
    }),
  );
});
