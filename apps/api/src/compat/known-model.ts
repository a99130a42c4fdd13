import { GatewayError } from '@app/http';
import type { ModelDescription, Models } from '@app/models';

/** The configured model of a kind by the id that a client sent; 404 `model_not_found` otherwise. */
export const knownModel = (
  models: Models,
  id: string,
  kinds: readonly ModelDescription['kind'][],
): ModelDescription => {
  const model = models.catalogue.models.get(id);
  if (model === undefined || !kinds.includes(model.kind)) throw modelNotFound(id);
  return model;
};

/** `param` is named where the model is part of the path. */
export const modelNotFound = (id: string, param: string | null = null): GatewayError =>
  new GatewayError(
    404,
    `The model '${id.slice(0, 100).toWellFormed()}' does not exist or you do not have access to it.`,
    { param, code: 'model_not_found' },
  );
