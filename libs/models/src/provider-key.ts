import { InvalidConfig } from '@app/kernel';
import type { ProviderDescription } from './catalogue';

/** The API key of a provider; undefined where it wants none. Throws `InvalidConfig` when the environment lacks it. */
export const providerKey = (
  name: string,
  { apiKeyEnv }: ProviderDescription,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined => {
  if (apiKeyEnv === undefined) return undefined;
  const key = Object.hasOwn(environment, apiKeyEnv) ? environment[apiKeyEnv] : undefined;
  if (key === undefined || key === '')
    throw new InvalidConfig(`Set ${apiKeyEnv}: the provider ${name} in MODELS_FILE needs it.`);
  return key;
};
