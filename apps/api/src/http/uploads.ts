import { isUnstorableText } from '@app/kernel';
import type { FastifyRequest } from 'fastify';
import { InvalidInput } from './invalid-input';

/** A part of a `multipart/form-data` body. A file's body must be read before the next part comes. */
export type Part =
  | { readonly kind: 'field'; readonly name: string; readonly value: string }
  | { readonly kind: 'file'; readonly name: string; readonly fileName: string; readonly mimeType: string; readonly body: AsyncIterable<Buffer> };

/**
 * The parts of a multipart body in their order; for routes declared with `files`. Reading a file throws `too_large` past
 * `MAX_UPLOAD_BYTES`. Names and values that could not be stored are refused.
 */
export async function* parts(request: FastifyRequest): AsyncGenerator<Part> {
  for await (const part of request.parts()) {
    if (isUnstorableText(part.fieldname)) throw refusal('', 'Names of parts must not contain NUL or lone surrogates.');
    if (part.type === 'file') {
      if (isUnstorableText(part.filename)) throw refusal(part.fieldname, 'The file name must not contain NUL or lone surrogates.');
      yield { kind: 'file', name: part.fieldname, fileName: part.filename, mimeType: part.mimetype, body: part.file };
      if (part.file.truncated) throw new request.server.multipartErrors.RequestFileTooLargeError();
    } else {
      const value = String(part.value);
      if (part.valueTruncated === true || isUnstorableText(value)) throw refusal(part.fieldname, 'The value is too long, or contains NUL or lone surrogates.');
      yield { kind: 'field', name: part.fieldname, value };
    }
  }
}

const refusal = (path: string, message: string): InvalidInput => new InvalidInput('invalid_body', [{ path, code: 'invalid_text', message }]);
