import { GatewayError } from '@app/http';
import { type Fields, given, isFields } from './checks';

/** A rerank request that was understood. */
export interface RerankParameters {
  readonly query: string;
  readonly documents: readonly string[];
  /** How many to return, at most as many as there are. */
  readonly top: number;
}

/** 400 `invalid_body`: what the whole request lacks or has in another form. */
export const invalidBody = (param: string, sentence: string): GatewayError =>
  new GatewayError(400, `Invalid body: '${param}' ${sentence}`, { param, code: 'invalid_body' });

/** Reads a body but its model. `documents` and `top_n` are other names of `input` and `top_k`. */
export const rerankParameters = (body: Fields): RerankParameters => {
  const { query } = body;
  if (!given(query)) throw invalidBody('query', 'is missing.');
  if (typeof query !== 'string') throw invalidBody('query', 'must be a string.');
  const name = given(body['input']) || !given(body['documents']) ? 'input' : 'documents';
  const documents = documentsOf(name, body[name]);
  return { query, documents, top: topOf(body, documents.length) };
};

const documentsOf = (name: string, value: unknown): readonly string[] => {
  if (!given(value)) throw invalidBody(name, 'is missing.');
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) throw invalidBody(name, 'must be a string or an array of strings.');
  if (value.length === 0)
    throw new GatewayError(400, 'input must hold at least one document.', { param: name, code: 'invalid_input' });
  return value.map((one: unknown, index) => {
    // Some clients send each document as an object.
    const text = isFields(one) ? one['text'] : one;
    return typeof text === 'string' ? text : fail(`${name}[${index}]`);
  });
};

const fail = (param: string): never => {
  throw invalidBody(param, 'must be a string.');
};

const topOf = (body: Fields, count: number): number => {
  const name = given(body['top_k']) || !given(body['top_n']) ? 'top_k' : 'top_n';
  const top = body[name];
  if (!given(top)) return count;
  if (!Number.isInteger(top) || (top as number) < 1) throw invalidBody(name, 'must be a whole number, at least 1.');
  return Math.min(top as number, count);
};
