import { PassThrough } from 'node:stream';
import multipart from '@fastify/multipart';
import { CONFIG, type Config, inBlocks, isUnstorableText } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Admission } from './admission';
import { InvalidInput } from './invalid-input';
import { countParts } from './part-count';

/** A part of a `multipart/form-data` body. A file's body must be read before the next part comes. */
export type Part =
  | { readonly kind: 'field'; readonly name: string; readonly value: string }
  | {
      readonly kind: 'file';
      readonly name: string;
      readonly fileName: string;
      readonly mimeType: string;
      readonly body: AsyncIterable<Buffer>;
    };

/** Headers of one part. */
const MOST_HEADERS = 20;
/** The text of one field. */
const FIELD_BYTES = 64 * 1024;
/** Most files of a body, and most other fields. */
const MOST_PARTS = 100;

/**
 * Makes an instance accept multipart bodies. Leaves out the hooks of the parser, which would run for every request
 * and only remove files that nothing here asks it to save.
 */
export const takeMultipart = (fastify: FastifyInstance, fileSize: number): void => {
  const withoutHooks = Object.create(fastify, { addHook: { value: () => fastify } }) as FastifyInstance;
  multipart(
    withoutHooks,
    {
      limits: {
        fileSize,
        files: MOST_PARTS,
        fields: MOST_PARTS,
        fieldSize: FIELD_BYTES,
        fieldNameSize: 100,
        headerPairs: MOST_HEADERS,
      },
    },
    () => undefined,
  );
};

/** Reads the files that come with a request. */
@Injectable()
export class Uploads {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'MAX_UPLOAD_BYTES'>,
    private readonly admission: Admission,
  ) {}

  /**
   * Yields the parts of a multipart body in order; for routes declared with `files`. Reading a file throws `too_large`
   * beyond `MAX_UPLOAD_BYTES`. Rejects names and values that cannot be stored, and bodies that are cut off, malformed
   * or contain a part that was not passed on. A body may take minutes: whoever would be rejected at its end is rejected
   * (`mayGoOn`). Passes over the rest of a body that is read no further.
   */
  async *parts(request: FastifyRequest): AsyncGenerator<Part> {
    try {
      yield* this.partsOf(request);
    } finally {
      // Where a part is wrong nobody reads on, and the connection would stand still with the next request in it.
      if (!request.raw.readableEnded) request.raw.unpipe().resume();
    }
  }

  /**
   * Yields a body as it is; for routes declared with `bytes`. Throws `too_large` beyond `MAX_UPLOAD_BYTES`, and for whoever would be
   * rejected at its end, as `parts` does. Passes over the rest of a body that is read no further.
   */
  async *bytes(request: FastifyRequest): AsyncGenerator<Buffer> {
    const { raw } = request;
    // The body of a pipe can be left: to leave that of a request would end its connection.
    const body = raw.pipe(new PassThrough());
    const fail = (error: Error): void => void body.destroy(error);
    raw.on('error', fail);
    try {
      let bytes = 0;
      for await (const piece of inBlocks(body)) {
        bytes += piece.length;
        if (bytes > this.config.MAX_UPLOAD_BYTES) throw tooLarge('', this.config.MAX_UPLOAD_BYTES);
        yield piece;
      }
    } finally {
      raw.off('error', fail);
      if (!raw.readableEnded) raw.unpipe(body).resume();
    }
    await this.admission.admittedStill(request);
  }

  private async *partsOf(request: FastifyRequest): AsyncGenerator<Part> {
    const partsOfBody = countParts(request);
    let given = 0;
    for await (const part of parsed(request.parts())) {
      given += 1;
      // The parser's types know no part without a name, the parser does.
      if ((part.fieldname as string | undefined) === undefined) throw rejection('', NOT_A_PART, 'malformed');
      if (isUnstorableText(part.fieldname)) throw rejection('', 'Part names must not contain NUL or lone surrogates.');
      if (part.type === 'file') {
        const fileName = (part.filename as string | undefined) ?? '';
        if (isUnstorableText(fileName))
          throw rejection(part.fieldname, 'The file name must not contain NUL or lone surrogates.');
        yield {
          kind: 'file',
          name: part.fieldname,
          fileName,
          mimeType: part.mimetype,
          body: parsed(inBlocks(part.file)),
        };
        if (part.file.truncated) throw tooLarge(part.fieldname, this.config.MAX_UPLOAD_BYTES);
      } else {
        const value = String(part.value);
        if (part.valueTruncated === true || isUnstorableText(value))
          throw rejection(part.fieldname, 'The value is too long, or contains NUL or lone surrogates.');
        yield { kind: 'field', name: part.fieldname, value };
      }
    }
    if (given !== partsOfBody()) throw rejection('', NOT_A_PART, 'malformed');
    await this.admission.admittedStill(request);
  }
}

const NOT_A_PART = `Each part needs a content-disposition header with form-data and a name, among its first ${MOST_HEADERS} headers.`;

/** What the parser gives. Its own errors are the only ones without a code, and mean that the body is not multipart or ends too early. */
async function* parsed<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* source;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (!('code' in error)) throw rejection('', 'The body is not well-formed multipart/form-data.', 'malformed');
    throw tooMany(String(error.code)) ?? error;
  }
}

const tooMany = (code: string): InvalidInput | undefined => {
  if (code === 'FST_FILES_LIMIT')
    return new InvalidInput('too_large', [
      {
        path: '',
        code: 'too_many_files',
        message: `Send at most ${MOST_PARTS} files at once. Send the others in another request.`,
      },
    ]);
  if (code === 'FST_FIELDS_LIMIT')
    return new InvalidInput('too_large', [
      { path: '', code: 'too_many_fields', message: `Send at most ${MOST_PARTS} fields beside the files.` },
    ]);
  return undefined;
};

/** Not of the parser's own errors, which the instance without its hooks keeps for itself. */
const tooLarge = (path: string, limit: number): InvalidInput =>
  new InvalidInput('too_large', [
    {
      path,
      code: 'too_large',
      message: `The file is larger than the limit of ${limit} bytes.`,
    },
  ]);

const rejection = (path: string, message: string, code = 'invalid_text'): InvalidInput =>
  new InvalidInput('invalid_body', [{ path, code, message }]);
