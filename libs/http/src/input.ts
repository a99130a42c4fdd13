import { asSentence, isoTime, issueWords, reject, sentenceAbout } from '@app/kernel';
import { type ArgumentMetadata, Body, type PipeTransform, Query } from '@nestjs/common';
import { z } from 'zod';
import { type InputFault, InvalidInput, pathText } from './invalid-input';
import { declareInput } from './route';

/**
 * The body or query that a client sent. Parse it after the access check: a caller who may not send it learns nothing
 * about its mistakes.
 */
export interface Input<S extends z.ZodType> {
  /** Throws the 400 problem that names each field. `absent` stands for a body that was not sent, on routes that do without. */
  parse(absent?: z.input<S>): z.output<S>;
}

class InputPipe implements PipeTransform<unknown, Input<z.ZodType>> {
  transform(value: unknown, { type, schema }: ArgumentMetadata): Input<z.ZodType> {
    // The decorators below name it. Nest knows it as a Standard Schema; all of ours are Zod's.
    if (type === 'query') return { parse: () => query(schema as z.ZodObject, value) };
    const ofBody = schema as z.ZodType & typeof schema;
    return { parse: (absent) => input(ofBody, absent === undefined ? value : (value ?? absent)) };
  }
}
const pipes = [new InputPipe()];

/** Injects the body of a request as an `Input`, makes the route accept one, and documents its schema. */
export const BodyInput =
  (schema: z.ZodType): ParameterDecorator =>
  (target, handler, index) => {
    declareInput(target, handler, { body: schema });
    Body({ schema, pipes })(target, handler, index);
  };

/** Injects a body as it was sent, makes the route accept one, and documents its schema: for handlers with checks of their own. */
export const UncheckedBody =
  (schema: z.ZodType): ParameterDecorator =>
  (target, handler, index) => {
    declareInput(target, handler, { body: schema });
    Body({ schema })(target, handler, index);
  };

/** Injects the query parameters of a request as an `Input`, and documents their schema. */
export const QueryInput =
  (schema: z.ZodObject): ParameterDecorator =>
  (target, handler, index) => {
    declareInput(target, handler, { query: schema });
    Query({ schema, pipes })(target, handler, index);
  };

/** Most faults one answer lists. */
const MOST_FAULTS = 20;

/** Checks a body. Throws a 400 problem that names each field. `undefined`: no body was sent. */
export const input = <S extends z.ZodType>(schema: S, body: unknown): z.output<S> => {
  if (body === undefined)
    throw new InvalidInput('invalid_body', [{ path: '', code: 'required', message: 'A JSON body is required.' }]);
  const parsed = schema.safeParse(body, { error: issueWords });
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const code = issue.code === 'custom' ? rejectionOf(issue) : undefined;
    if (code !== undefined) reject(code, { path: pathText(issue.path) });
  }
  const faults = faultsOf(parsed.error.issues);
  throw new InvalidInput(
    faults.some((fault) => fault.code === 'unknown_field') ? 'unknown_field' : 'invalid_body',
    faults,
  );
};

const REJECTS = 'rejects';

/** For a check of a field whose failure has a code of its own, whatever else is wrong with the body. */
export const rejecting = (code: string) => ({ params: { [REJECTS]: code } });
const rejectionOf = ({ params }: { readonly params?: Record<string, unknown> | undefined }) =>
  params?.[REJECTS] as string | undefined;

/** Rejects a body where none is expected. Accepts an empty object, which many clients send anyway. */
export const rejectBody = (body: unknown): void => void (body === undefined || input(NOTHING, body));
const NOTHING = z.strictObject({});

/** Checked query parameters. Repeated, unknown and malformed ones are rejected with 400 `invalid_parameter`. */
const query = <S extends z.ZodObject>(schema: S, raw: unknown): z.output<S> => {
  const given = raw as Record<string, unknown>;
  const repeated = Object.keys(given).filter((name) => Array.isArray(given[name]));
  if (repeated.length > 0) {
    throw new InvalidInput(
      'invalid_parameter',
      repeated
        .slice(0, MOST_FAULTS)
        .map((name) => ({ path: pathText([name]), code: 'repeated', message: 'Must be given once.' })),
    );
  }
  const parsed = schema.safeParse(given, { error: issueWords });
  if (parsed.success) return parsed.data;
  throw new InvalidInput('invalid_parameter', faultsOf(parsed.error.issues, notAmong(Object.keys(schema.shape))));
};

const UNKNOWN_FIELD = 'Is unknown. Remove it, or see /docs for what this takes.';

/** The message for an unknown parameter, also for one that only other lists accept, such as `q`. */
const notAmong = (names: readonly string[]): string =>
  `Is not a parameter of this operation, which takes ${new Intl.ListFormat('en').format(names)}.`;

/** Documents a query parameter by the type that its text stands for. */
const documentedForms = new WeakMap<object, Record<string, unknown>>();
export const documentedForm = (schema: object): Record<string, unknown> | undefined => documentedForms.get(schema);

/** A whole number in decimal digits. */
export const wholeNumberText = (min: number, max: number) => {
  const schema = z
    .string()
    .regex(/^\d{1,15}$/, 'Must be a whole number.')
    .transform(Number)
    .pipe(z.number().min(min, `Must be at least ${min}.`).max(max, `Must be at most ${max}.`));
  documentedForms.set(schema, { type: 'integer', minimum: min, maximum: max });
  return schema;
};

/** A time with its offset, as ISO 8601 UTC with milliseconds. */
export const instant = z.iso.datetime({ offset: true }).transform((text, context) => {
  const time = isoTime(Date.parse(text));
  if (time !== undefined) return time;
  context.addIssue({ code: 'custom', message: 'Must be between the years 0 and 9999 (UTC).' });
  return z.NEVER;
});

/** `true` or `false`. */
export const flagText = z.enum(['true', 'false']).transform((text) => text === 'true');
documentedForms.set(flagText, { type: 'boolean' });

/** Unknown fields come first: an answer has their code if there are any, and its `detail` says the first fault. */
const faultsOf = (issues: readonly z.core.$ZodIssue[], unknown = UNKNOWN_FIELD): readonly InputFault[] => {
  const faults = issues.flatMap((issue) => faultOf(issue, [], unknown));
  const isUnknown = ({ code }: InputFault): boolean => code === 'unknown_field';
  return [...faults.filter(isUnknown), ...faults.filter((fault) => !isUnknown(fault))].slice(0, MOST_FAULTS);
};

const faultOf = (issue: z.core.$ZodIssue, prefix: readonly PropertyKey[], unknown: string): readonly InputFault[] => {
  const path = [...prefix, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: pathText([...path, key]),
      code: 'unknown_field',
      message: unknown,
    }));
  }
  const branch = issue.code === 'invalid_union' ? closestBranch(issue.errors) : undefined;
  if (branch !== undefined) return branch.flatMap((inner) => faultOf(inner, path, unknown));
  const code = issue.code === 'invalid_union' ? (issue.errors[0]?.[0]?.code ?? issue.code) : issue.code;
  return [{ path: pathText(path), code, message: said(issue.message, path) }];
};

/** Begins with "The body" if a fault concerns all of it, and no field. */
const said = (words: string, path: readonly PropertyKey[]): string =>
  path.length === 0 ? sentenceAbout('The body', words) : asSentence(words);

/** The alternative that the input came closest to: the one with the fewest faults inside it, or one of its own kind. Undefined where it is none of the kinds. */
const closestBranch = (branches: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined =>
  branches
    .filter((branch) => branch.some((issue) => issue.path.length > 0 || issue.code === 'unrecognized_keys'))
    .toSorted((a, b) => a.length - b.length)[0] ??
  branches.find((branch) => branch.every(({ code }) => code !== 'invalid_type' && code !== 'invalid_value'));
