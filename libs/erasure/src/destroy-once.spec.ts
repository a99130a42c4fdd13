import { destroyOnce } from './destroy-once';

it('keys are destroyed once for both policies of erasure, and anew for one that asks once more', async () => {
  const destroyed: object[] = [];
  const destroy = destroyOnce({ destroy: async (selector) => [`${destroyed.push(selector)}`] });
  const asked = (policy: string) => destroy(policy, 'event', { stream: 'prompt-1' });
  expect([await asked('first'), await asked('other')]).toEqual([['1'], ['1']]);
  expect([await asked('other'), await asked('first')]).toEqual([['2'], ['2']]);
  expect([await asked('first'), await asked('first')]).toEqual([['3'], ['4']]);
});
