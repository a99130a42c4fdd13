import { z } from 'zod';
import { enteredText } from './marked-fields';
import { isSafeInNames, isUnstorableText, normalisedName } from './names';

/** A name or title: trimmed, of `max` characters at most, without characters that deceive the eye. */
export const nameSchema = (max = 200): z.ZodType<string, string> =>
  enteredText(
    z
      .string()
      .trim()
      .min(1)
      .max(max)
      .refine(isSafeInNames, { message: 'must not contain control, bidirectional or tag characters' })
      .refine((text) => normalisedName(text) !== '', { message: 'must contain a visible character' }),
  );

/** Free text of `max` characters at most: anything that survives UTF-8. */
export const textSchema = (max: number): z.ZodType<string, string> =>
  enteredText(
    z
      .string()
      .max(max)
      .refine((text) => !isUnstorableText(text), { message: 'must not contain NUL or lone surrogates' }),
  );
