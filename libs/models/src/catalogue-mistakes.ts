import type { z } from 'zod';
import type { ModelDescription } from './catalogue';
import type { ModelKind } from './pricing';
import { LOCAL } from './provider';

type Issue = z.core.$ZodIssue;
type Models = ReadonlyMap<string, ModelDescription>;

/** How an entry of the file names its model and its provider, as far as it does: it may be anything. */
export interface EntryNames {
  readonly key?: string;
  readonly provider?: string;
}

export const namesIn = (entry: unknown): EntryNames => {
  const { key, provider } = (typeof entry === 'object' && entry !== null ? entry : {}) as Readonly<
    Record<string, unknown>
  >;
  return { ...(typeof key === 'string' ? { key } : {}), ...(typeof provider === 'string' ? { provider } : {}) };
};

/** A sentence for each value of the wrong form. `place`: where it stands. */
export const formMistakes = (issues: readonly Issue[], place?: string): readonly string[] =>
  issues
    .flatMap(withinUnion)
    .map(({ path, message }) => `${[place, path.join('.')].filter(Boolean).join(': ') || 'the file'}: ${message}`);

/** A value that may take several forms is judged as the last of them, the one with fields. */
const withinUnion = (issue: Issue): readonly Issue[] =>
  issue.code === 'invalid_union' && issue.errors.length > 0
    ? (issue.errors.at(-1) as readonly Issue[])
        .flatMap(withinUnion)
        .map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
    : [issue];

/** A sentence for each key that is listed twice and each provider that is not there. */
export const nameMistakes = (entries: readonly EntryNames[], providers: ReadonlySet<string>): readonly string[] => {
  const keys = entries.map(({ key }) => key);
  return entries.flatMap(({ key, provider }, index) => {
    if (key === undefined) return [];
    return [
      ...(keys.indexOf(key) < index ? [`the model ${key} is listed twice`] : []),
      ...(provider !== undefined && provider !== LOCAL && !providers.has(provider)
        ? [`the model ${key} names the unknown provider ${provider}`]
        : []),
      ...(provider === LOCAL && !key.startsWith('local-')
        ? [`the model ${key} cannot be added to the provider ${LOCAL}`]
        : []),
    ];
  });
};

/** A sentence for each model that is priced in another currency than the instance's. */
export const currencyMistakes = (models: readonly ModelDescription[], currency: string): readonly string[] =>
  models.flatMap(({ key, pricing }) =>
    pricing === 'free' || pricing.currency === currency
      ? []
      : [`the model ${key} is priced in ${pricing.currency}, not in ${currency}`],
  );

/** A sentence for each fallback that cannot be one; `unread` models are not judged. */
export const fallbackMistakes = (models: Models, unread: ReadonlySet<string>): readonly string[] =>
  [...models.values()].flatMap(({ key, kind, fallback }) => {
    if (fallback === undefined || unread.has(fallback)) return [];
    const other = models.get(fallback);
    return other?.kind === kind && other.provider !== LOCAL && fallback !== key
      ? []
      : [`the fallback ${fallback} of the model ${key} is not another ${kind} model of a provider`];
  });

/** A sentence for each model that a provider of the kind `transformers` cannot run, or that takes part in a fallback there. */
export const transformersMistakes = (
  models: Models,
  providers: Readonly<Record<string, { readonly kind: string }>>,
): readonly string[] => {
  const runs = ({ provider }: ModelDescription): boolean => providers[provider]?.kind === 'transformers';
  return [...models.values()].flatMap((model) => {
    const other = model.fallback === undefined ? undefined : models.get(model.fallback);
    return [
      ...(runs(model) && model.kind !== 'embedding'
        ? [
            `the model ${model.key} is a ${model.kind} model, and the provider ${model.provider} runs embedding models only`,
          ]
        : []),
      ...(other !== undefined && (runs(model) || runs(other))
        ? [
            `the model ${model.key} cannot have the fallback ${other.key}: models of the kind transformers have none and are none`,
          ]
        : []),
    ];
  });
};

/** A sentence for each default that is no model of its kind; `unread` models are not judged. */
export const defaultMistakes = (
  defaults: readonly (readonly [key: string, kind: ModelKind])[],
  models: Models,
  unread: ReadonlySet<string>,
): readonly string[] =>
  defaults.flatMap(([key, kind]) =>
    unread.has(key) || models.get(key)?.kind === kind ? [] : [`${key} is not a ${kind} model`],
  );
