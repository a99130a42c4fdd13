import type { Caller } from '@app/access';
import { input, InvalidInput, type MultipartBody, type Uploads } from '@app/http';
import {
  expectSkill,
  MAX_FILE_BYTES,
  normalisedInstructions,
  type ParsedSkill,
  readSkill,
  SkillFailure,
  type SkillFile,
  type SkillLimits,
  type StoredUpload,
} from '@app/skills';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';

/** Of an archive, beside its files. */
export const PACKING_BYTES = 1024 ** 2;

/** A file of a multipart body, whole. */
export interface SentFile {
  readonly filename: string;
  readonly bytes: Buffer;
}

/** A file of a multipart body that came to its end. */
export interface ReceivedFile {
  readonly filename: string;
  /** Its bytes, or where they are stored. */
  readonly body: Buffer | StoredUpload;
}

/** How large a body may be, and the reason that one is rejected for beyond. */
export interface MostBytes {
  readonly bytes: number;
  readonly reason: 'skill_file' | 'skill_bytes';
}

/** Of one reference file. */
export const MOST_OF_FILE: MostBytes = { bytes: MAX_FILE_BYTES, reason: 'skill_file' };

/** Takes a body as it comes. Rejects `too_large` beyond `most`. */
export type TakeBody = (body: AsyncIterable<Buffer>, most: MostBytes) => Promise<ReceivedFile['body']>;

/** How the one file of a multipart body is read. */
export interface Receiving<Fields extends z.ZodObject> {
  readonly uploads: Uploads;
  readonly most: MostBytes;
  readonly take: TakeBody;
  /** Asked before the file is read, and again behind it. */
  readonly allow?: (fields: z.output<Fields>, now?: Caller) => Promise<unknown>;
}

/** Reads a multipart body with one part `file`, and fields before it. `begin` is called where the file begins to come. */
export const sentFile = async <Fields extends z.ZodObject>(
  request: FastifyRequest,
  { fields: schema }: MultipartBody<Fields>,
  { uploads, most, take, allow = async () => undefined }: Receiving<Fields>,
  begin: () => void = () => undefined,
): Promise<{ readonly fields: z.output<Fields>; readonly file: ReceivedFile }> => {
  if (!request.isMultipart())
    throw fault('file', 'required', 'A file is sent as multipart/form-data, as a part named file.');
  const given: Record<string, unknown> = {};
  let taken: { readonly fields: z.output<Fields>; readonly file: ReceivedFile } | undefined;
  for await (const part of uploads.parts(request)) {
    if (part.kind === 'field') {
      if (taken !== undefined) throw fault(part.name, 'fields_after_files', 'Fields must come before the file.');
      if (Object.hasOwn(given, part.name)) throw fault(part.name, 'repeated', 'Must be given once.');
      Object.defineProperty(given, part.name, { value: part.value, enumerable: true });
      continue;
    }
    if (part.name !== 'file') throw fault(part.name, 'unknown_field', 'Send the file as a part named file.');
    if (taken !== undefined) throw fault('file', 'too_many_files', 'Send one file.');
    const fields = input(schema, given);
    await allow(fields);
    request.mayGoOn ??= (now) => allow(fields, now);
    begin();
    taken = { fields, file: { filename: part.fileName, body: await take(part.body, most) } };
  }
  return taken ?? Promise.reject(fault('file', 'required', 'A file is required, as a part named file.'));
};

/** As `sentFile`, or reads a body that is no form as the file. */
export const sentBytes = async (
  request: FastifyRequest,
  body: MultipartBody,
  receiving: Receiving<MultipartBody['fields']>,
): Promise<{ readonly file: ReceivedFile }> => {
  if (request.isMultipart()) return sentFile(request, body, receiving);
  const { uploads, most, take } = receiving;
  return { file: { filename: '', body: await take(uploads.bytes(request), most) } };
};

/** As `sentFile`, of Skills that are read then. */
export const sentSkill = <Fields extends z.ZodObject>(
  request: FastifyRequest,
  body: MultipartBody<Fields>,
  receiving: Receiving<Fields>,
) => sentFile(request, body, receiving, expectSkill);

/** A file read as a Skill. What is wrong with it names file, line and key. `onFile`: as of `readSkill`. */
export const parsedSkill = async (
  { filename, bytes }: SentFile,
  limits: SkillLimits,
  onFile?: (file: SkillFile) => void,
): Promise<ParsedSkill> => {
  try {
    return await readSkill(bytes, filename, limits, onFile);
  } catch (error) {
    throw error instanceof SkillFailure ? invalidSkill(error) : error;
  }
};

/** What is wrong with a Skill that was sent: by its file, and in words by line and key. */
export const invalidSkill = ({ code, sentence, fault: { path, line, key } }: SkillFailure): InvalidInput => {
  const place = [...(line === undefined ? [] : [`line ${line}`]), ...(key === undefined ? [] : [key])].join(', ');
  const message = place === '' ? sentence : `${place}: ${sentence}`;
  return new InvalidInput(code, [{ path: path === '' ? 'file' : path, code, message }]);
};

const fault = (path: string, code: string, message: string): InvalidInput =>
  new InvalidInput(code === 'unknown_field' ? 'unknown_field' : 'invalid_body', [{ path, code, message }]);

/** As files are read: equal content has one hash, whichever way it came in. */
export const whole = ({ description, instructions, frontmatter }: Content) => ({
  description: description.trim(),
  instructions: normalisedInstructions(instructions),
  frontmatter,
});
/** As `whole`, for fields of which some are absent. */
export const partial = (content: { readonly [Key in keyof Content]?: Content[Key] | undefined }): Partial<Content> => {
  const { description = '', instructions = '', frontmatter = {} } = content;
  const { description: d, instructions: i, frontmatter: f } = whole({ description, instructions, frontmatter });
  return {
    ...(content.description === undefined ? {} : { description: d }),
    ...(content.instructions === undefined ? {} : { instructions: i }),
    ...(content.frontmatter === undefined ? {} : { frontmatter: f }),
  };
};

interface Content {
  readonly description: string;
  readonly instructions: string;
  readonly frontmatter: Readonly<Record<string, unknown>>;
}
