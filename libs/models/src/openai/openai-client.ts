import { InvalidConfig } from '@app/kernel';
import OpenAI from 'openai';
import type { ProviderDescription } from '../catalogue';
import { providerFetch } from './provider-fetch';

/** A client of one provider. Throws `InvalidConfig` when the environment lacks its key. */
export const openAiClient = (name: string, { baseUrl, apiKeyEnv, timeoutMs }: ProviderDescription, environment: Readonly<Record<string, string | undefined>>): OpenAI => {
  const apiKey = apiKeyEnv === undefined ? 'none' : environment[apiKeyEnv];
  if (apiKey === undefined || apiKey === '') throw new InvalidConfig(`${apiKeyEnv} is needed by the provider ${name} of MODELS_FILE.`);
  return new OpenAI({ apiKey, baseURL: baseUrl, timeout: timeoutMs, maxRetries: 0, fetch: providerFetch, logLevel: 'off', organization: null, project: null });
};
