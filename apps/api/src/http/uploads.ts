import { isUnstorableText } from '@app/kernel';
import type { FastifyRequest } from 'fastify';
import { InvalidInput } from './invalid-input';

/** A part of a `multipart/form-data` body. A file's body must be read before the next part comes. */
export type Part =
  | { readonly kind: 'field'; readonly name: string; readonly value: string }
  | { readonly kind: 'file'; readonly name: string; readonly fileName: string; readonly mimeType: string; readonly body: AsyncIterable<Buffer> };

/**
 * The parts of a multipart body in their order; for routes declared with `files`. Reading a file throws `too_large` past
 * `MAX_UPLOAD_BYTES`. Names and values that could not be stored are refused, and so is a body that is cut off or malformed.
 */
export async function* parts(request: FastifyRequest): AsyncGenerator<Part> {
  for await (const part of parsed(request.parts())) {
    if (isUnstorableText(part.fieldname)) throw refusal('', 'Names of parts must not contain NUL or lone surrogates.');
    if (part.type === 'file') {
      if (isUnstorableText(part.filename)) throw refusal(part.fieldname, 'The file name must not contain NUL or lone surrogates.');
      yield { kind: 'file', name: part.fieldname, fileName: part.filename, mimeType: part.mimetype, body: parsed<Buffer>(part.file) };
      if (part.file.truncated) throw new request.server.multipartErrors.RequestFileTooLargeError();
    } else {
      const value = String(part.value);
      if (part.valueTruncated === true || isUnstorableText(value)) throw refusal(part.fieldname, 'The value is too long, or contains NUL or lone surrogates.');
      yield { kind: 'field', name: part.fieldname, value };
    }
  }
}

/** What the parser gives. Its own errors are the only ones without a code, and mean that the body is not multipart or ends too early. */
async function* parsed<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* source;
  } catch (error) {
    throw error instanceof Error && !('code' in error) ? refusal('', 'The body is not well-formed multipart/form-data.', 'malformed') : error;
  }
}

const refusal = (path: string, message: string, code = 'invalid_text'): InvalidInput => new InvalidInput('invalid_body', [{ path, code, message }]);
