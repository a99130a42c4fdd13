import { parentPort } from 'node:worker_threads';
import type { JsonSchema } from '@app/models';
import Ajv, { type Options } from 'ajv';
import Ajv2019 from 'ajv/dist/2019';
import Ajv2020 from 'ajv/dist/2020';

/** A schema, and the value that is to be valid under it, if there is one. */
export interface SchemaJob {
  readonly schema: JsonSchema;
  readonly given?: { readonly value: unknown };
}

/**
 * `invalidSchema`: why it is invalid. `tooMuch`: it takes too much time or memory. `faults`: the errors of the value;
 * empty if there are none.
 */
export type SchemaVerdict =
  { readonly invalidSchema: string } | { readonly tooMuch: true } | { readonly faults: readonly string[] };

/** Most reported errors of a value. */
const MOST_FAULTS = 5;

/** Patterns are Unicode ones; those that are none then are read as older ones. */
const regExp = Object.assign(
  (pattern: string, flags: string): RegExp => {
    try {
      return new RegExp(pattern, flags);
    } catch {
      return new RegExp(pattern);
    }
  },
  { code: 'new RegExp' },
);

/** `format` is an annotation, as in the standard; unknown keywords are ignored. */
const options: Options = {
  strict: false,
  validateFormats: false,
  logger: false,
  allErrors: false,
  addUsedSchema: false,
  inlineRefs: false,
  code: { regExp },
};

const validatorOf = (dialect: string): Ajv => {
  if (dialect.includes('draft-0')) return new Ajv(options);
  return dialect.includes('2019-09') ? new Ajv2019(options) : new Ajv2020(options);
};

const verdictOn = ({ schema, given }: SchemaJob): SchemaVerdict => {
  // `$async` is none of the standard: a validator of ajv would answer with a promise, which is true.
  const { $schema: dialect, $id: _id, $async: _async, ...rest } = schema;
  const ajv = validatorOf(typeof dialect === 'string' ? dialect : '');
  let validate;
  try {
    validate = ajv.compile(rest);
  } catch (error) {
    return { invalidSchema: (error as Error).message };
  }
  if (given === undefined || validate(given.value)) return { faults: [] };
  const faults = (validate.errors ?? []).slice(0, MOST_FAULTS);
  return {
    faults: faults.map(({ instancePath, message }) => `${instancePath || 'the value'} ${message ?? 'is wrong'}`),
  };
};

// The first message says that this thread is ready. A foreign schema may take any time and any memory: the caller then
// ends this thread.
parentPort?.on('message', (job: SchemaJob) => parentPort?.postMessage(verdictOn(job)));
parentPort?.postMessage('ready');
