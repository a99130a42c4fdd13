import { reject } from '@app/kernel';
import { type ChatMessage, type JsonSchema, textOfMessage, userText } from '@app/models';
import { Inject, Injectable } from '@nestjs/common';
import { documentKeysOf } from '../answering/document-copies';
import { sourceParts } from '../answering/source-parts';
import { usageSum } from '../answering/usage-sum';
import { type GeneratedAnswer, type GeneratedText, type Generation, Generator } from './generator';
import { type CheckFor, SchemaChecks } from './schema-checks';

/** How often a model is asked: once, and twice again. */
const TIMES = 3;
/** Characters of a wrong answer that its model is shown, and that an error repeats. */
const LONGEST_TEXT = 100_000;

/** An object that an Agent generated. */
export interface GeneratedObject extends Omit<GeneratedText, 'text'> {
  /** Valid under the schema. */
  readonly object: unknown;
}

/** What the objects are to be. */
export interface ObjectForm {
  readonly schema: JsonSchema;
  readonly name?: string;
}

/** Generates JSON that is valid under a schema. */
@Injectable()
export class ObjectGenerator {
  constructor(
    @Inject(Generator) private readonly generator: Pick<Generator, 'messages' | 'answer'>,
    @Inject(SchemaChecks) private readonly checks: Pick<SchemaChecks, 'check'>,
  ) {}

  /**
   * Returns why a schema is invalid or takes too long; undefined for a valid one. Rejects `unavailable` if too many
   * wait.
   */
  async faultOf(schema: JsonSchema, caller: CheckFor): Promise<string | undefined> {
    const verdict = await this.checks.check({ schema }, caller);
    if ('tooMuch' in verdict) return TOO_LONG;
    return 'invalidSchema' in verdict ? `is no JSON Schema: ${verdict.invalidSchema}` : undefined;
  }

  /**
   * The first valid of up to three answers. Each is a separate call: `usage` is the sum, `invocationId` the last one.
   * Rejects `no_object_generated` with the `text` of the last answer, and the errors of `Generator`.
   */
  async generate(generation: Generation, form: ObjectForm): Promise<GeneratedObject> {
    const { madeFrom, ...shown } = await this.generator.messages(generation);
    let { messages } = shown;
    const answers: GeneratedAnswer[] = [];
    let text = '';
    while (answers.length < TIMES) {
      const answer = await this.generator.answer(generation, messages, form, answers[0]?.passages);
      answers.push(answer);
      text = textOfMessage(answer.result);
      const read = await this.read(text, form.schema, generation);
      if ('object' in read)
        return {
          object: read.object,
          ...described(text, answers),
          madeFrom: [...madeFrom, ...documentKeysOf(answer.passages)],
        };
      messages = [...messages, ...correction(text, read.fault)];
    }
    return reject('no_object_generated', { text: text.slice(0, LONGEST_TEXT).toWellFormed() });
  }

  private async read(
    text: string,
    schema: JsonSchema,
    { requester: { userId }, signal }: Generation,
  ): Promise<{ readonly object: unknown } | { readonly fault: string }> {
    const given = valueOf(unfenced(text));
    if (given === undefined) return { fault: 'it is not JSON' };
    const verdict = await this.checks.check({ schema, given }, { userId, signal });
    if ('tooMuch' in verdict) return reject('invalid_body', { path: 'schema', reason: 'schema_too_slow' });
    if ('invalidSchema' in verdict) throw new Error('the schema was checked before');
    return verdict.faults.length === 0 ? { object: given.value } : { fault: verdict.faults.join('; ') };
  }
}

const TOO_LONG = 'takes too long to check. Make it simpler';

const FENCE = '```';

/** Many models put JSON into a fence of Markdown. */
const unfenced = (text: string): string => {
  const trimmed = text.trim();
  if (!trimmed.startsWith(FENCE) || !trimmed.endsWith(FENCE)) return trimmed;
  return trimmed.slice(trimmed.indexOf('\n') + 1, -FENCE.length);
};

/** The value of a JSON text; undefined where it is none, or deeper than other programs may read. */
const valueOf = (text: string): { readonly value: unknown } | undefined => {
  try {
    return isDeep(text) ? undefined : { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
};

/** Lists and objects within each other, at most. */
const DEEPEST = 256;

const isDeep = (text: string): boolean => {
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]+|\\.)*"?|[[\]{}]/gs)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth > DEEPEST) return true;
  }
  return false;
};

const correction = (text: string, fault: string): readonly ChatMessage[] => [
  { role: 'assistant', content: [{ type: 'text', text: text.slice(0, LONGEST_TEXT) || '(nothing)' }] },
  userText(`That answer is not valid under the schema: ${fault}. Answer with the JSON value alone.`),
];

const described = (text: string, answers: readonly GeneratedAnswer[]): Omit<GeneratedObject, 'object' | 'madeFrom'> => {
  const { result, passages, invocationId } = answers.at(-1) as GeneratedAnswer;
  // JSON cites nothing: these are the sources that the model had.
  const given = passages.map((_, index) => ({ number: index + 1, source: index + 1, at: text.length }));
  return {
    finishReason: result.finishReason,
    sources: sourceParts(text, given, passages),
    usage: answers.map(({ usage }) => usage).reduce(usageSum),
    model: result.model.key,
    invocationId,
  };
};
