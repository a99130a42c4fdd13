import type { ProviderDescription } from './catalogue';
import { providerKey } from './models';

const keyIn = (apiKeyEnv: string | undefined) =>
  providerKey('acme', { apiKeyEnv } as ProviderDescription, { ACME_KEY: 'sk-1', EMPTY: '' });

describe('the key of a provider', () => {
  it('is what the environment has, where the provider wants one', () =>
    expect([keyIn('ACME_KEY'), keyIn(undefined)]).toEqual(['sk-1', undefined]));

  it.each(['sk-1\n', ' sk-1', 'sk 1', 'sk-ä', 'sk-1\r\nx: y'])('is rejected where no header takes it: %j', (key) =>
    expect(() => providerKey('acme', { apiKeyEnv: 'ACME_KEY' } as ProviderDescription, { ACME_KEY: key })).toThrow(
      'Correct ACME_KEY, the key of the provider acme',
    ),
  );

  it.each(['OTHER', 'EMPTY', 'constructor', '__proto__'])('is missed where it is to be in %s', (name) =>
    expect(() => keyIn(name)).toThrow(`Set ${name}: the provider acme`),
  );
});
