import { GatewayError } from '@app/http';
import { type Fields, given, missing, wrongType, wrongValue } from './checks';
import type { Encoding } from './embedding-vectors';

const MAX_INPUTS = 2_048;

/** An embeddings request that was understood. */
export interface EmbeddingParameters {
  readonly inputs: readonly string[];
  readonly encoding: Encoding;
  readonly dimensions: number | undefined;
  readonly user: string | undefined;
}

/** Reads a body but its model. */
export const embeddingParameters = (body: Fields): EmbeddingParameters => {
  const { input, encoding_format: encoding, dimensions, user } = body;
  const inputs = inputsOf(input);
  if (given(encoding) && encoding !== 'float' && encoding !== 'base64')
    throw wrongValue('encoding_format', "it must be 'float' or 'base64'.");
  if (given(dimensions)) {
    if (!Number.isInteger(dimensions)) throw wrongType('dimensions', 'an integer', dimensions);
    if ((dimensions as number) < 1) throw wrongValue('dimensions', 'it must be at least 1.');
    if (!Number.isSafeInteger(dimensions))
      throw wrongValue('dimensions', `it must be at most ${Number.MAX_SAFE_INTEGER}.`);
  }
  return {
    inputs,
    encoding: encoding === 'base64' ? 'base64' : 'float',
    dimensions: (dimensions ?? undefined) as number | undefined,
    user: typeof user === 'string' ? user : undefined,
  };
};

const inputsOf = (input: unknown): readonly string[] => {
  if (!given(input)) throw missing('input');
  if (typeof input !== 'string' && !Array.isArray(input))
    throw wrongType('input', 'a string or an array of strings', input);
  const inputs: readonly unknown[] = typeof input === 'string' ? [input] : input;
  if (inputs.length === 0) throw wrongValue('input', 'it must have at least one input.');
  if (inputs.some((one) => typeof one === 'number' || Array.isArray(one))) throw tokenIds();
  if (inputs.length > MAX_INPUTS)
    throw wrongValue('input', `it must have at most ${MAX_INPUTS} inputs, not ${inputs.length}.`);
  inputs.forEach((one, index) => {
    const param = typeof input === 'string' ? 'input' : `input[${index}]`;
    if (typeof one !== 'string') throw wrongType(param, 'a string', one);
    if (one === '') throw wrongValue(param, 'it must not be empty.');
  });
  return inputs as readonly string[];
};

/** Some clients count tokens first, in the vocabulary of one provider. */
const tokenIds = (): GatewayError =>
  new GatewayError(
    400,
    "Invalid type for 'input': token ids are not supported, only text. In LangChain for Python, set check_embedding_ctx_length=False.",
    { param: 'input', code: 'invalid_type' },
  );
