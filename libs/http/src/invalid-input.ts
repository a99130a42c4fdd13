/** A mistake in an input. `path` reads as in code: `tools[0].name`. Never holds the value itself. */
export interface InputFault {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** A body or a query that is rejected with 400, or 413 where it is too large, naming every field that is wrong. */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput';

  constructor(
    readonly code:
      'invalid_body' | 'invalid_parameter' | 'unknown_field' | 'invalid_archive' | 'invalid_frontmatter' | 'too_large',
    readonly faults: readonly InputFault[],
  ) {
    super(code);
  }
}

/** Longest text of the caller's own that an answer repeats: names of fields. */
const LONGEST_NAME = 100;

/** `['tools', 0, 'name']` as `tools[0].name`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part, index) =>
      typeof part === 'number'
        ? `[${part}]`
        : `${index === 0 ? '' : '.'}${String(part).slice(0, LONGEST_NAME).toWellFormed()}`,
    )
    .join('');
