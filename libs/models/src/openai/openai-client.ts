import OpenAI, { AzureOpenAI } from 'openai';
import type { ProviderDescription } from '../catalogue';
import { providerKey } from '../provider-key';
import { providerFetch } from './provider-fetch';

/** A client of one provider. Throws `InvalidConfig` when the environment lacks its key. */
export const openAiClient = (
  name: string,
  description: ProviderDescription,
  environment: Readonly<Record<string, string | undefined>>,
): OpenAI => {
  const { kind, baseUrl, apiVersion, timeoutMs } = description;
  const options = {
    apiKey: providerKey(name, description, environment) ?? 'none',
    timeout: timeoutMs,
    maxRetries: 0,
    fetch: providerFetch,
    logLevel: 'off',
    organization: null,
    project: null,
  } as const;
  // Not as its `endpoint`: the package refuses that where the environment names a base URL for others.
  return kind === 'azure'
    ? new AzureOpenAI({ ...options, baseURL: `${baseUrl.replace(/\/+$/, '')}/openai`, apiVersion })
    : new OpenAI({ ...options, baseURL: baseUrl });
};
