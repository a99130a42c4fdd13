/** Why a document cannot become Ready: stable code and message. */
export const FAILURES = {
  unsupported_type: 'Files of this type cannot be read. Convert it to PDF or text.',
  invalid_text: 'The file is not valid text. Save it as UTF-8 text and upload it again.',
  no_text: 'The file has no text. It may be a scan: run text recognition on it first.',
  encrypted: 'The file is password-protected. Remove the password and upload it again.',
  malformed: 'The file is damaged, or does not match its extension. Save it again and upload it.',
  inflates_too_far: 'The file is too large when decompressed. Split the file.',
  timed_out: 'Reading the file took too long. Split the file.',
  out_of_memory: 'Reading the file takes too much memory. Split the file.',
  empty_document: 'The file has no text.',
  too_many_passages: 'The text is too long for one document. Split the file.',
  content_missing: 'The stored file is gone.',
  usage_limit_exceeded: 'A usage limit is reached. Reprocess the document after it resets.',
  upstream_error: 'The embedding model failed.',
  upstream_timeout: 'The embedding model did not answer in time.',
  unavailable: 'A store or the embedding model was unavailable.',
  internal: 'Something failed on our side.',
  not_searchable: 'The search index did not accept the document in time.',
} as const;

export type FailureCode = keyof typeof FAILURES;

/** A failure that a retry cannot fix. */
export class IngestionFailure extends Error {
  override readonly name = 'IngestionFailure';

  constructor(readonly code: FailureCode) {
    super(FAILURES[code]);
  }
}

/** The message of a code, also of an earlier version. */
export const failureMessage = (code: string): string =>
  Object.hasOwn(FAILURES, code) ? FAILURES[code as FailureCode] : FAILURES.internal;
