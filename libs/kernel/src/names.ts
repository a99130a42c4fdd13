import { z } from 'zod';

/** Control, bidirectional-override and tag characters: rejected in names and titles (wire, Everywhere). */
const UNSAFE_IN_NAMES = /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u{e0000}-\u{e007f}]/u;
const INVISIBLE = /\u00ad|\u034f|\u180e|[\u200b-\u200f]|[\u2060-\u2064]|\ufeff/g;

/** True when text holds NUL or a lone surrogate: rejected anywhere, since such text does not survive UTF-8. */
export const isUnstorableText = (text: string): boolean => text.includes('\0') || !text.isWellFormed();

/** A name or title: trimmed, of `max` characters at most, without characters that deceive the eye. */
export const nameSchema = (max = 200): z.ZodType<string, string> =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine((text) => !UNSAFE_IN_NAMES.test(text) && text.isWellFormed(), {
      message: 'must not contain control, bidirectional or tag characters',
    })
    .refine((text) => normalisedName(text) !== '', { message: 'must contain a visible character' });

/** Free text of `max` characters at most: anything that survives UTF-8. */
export const textSchema = (max: number): z.ZodType<string, string> =>
  z
    .string()
    .max(max)
    .refine((text) => !isUnstorableText(text), { message: 'must not contain NUL or lone surrogates' });

/** The form in which names are compared: NFKC, case-folded, zero-width and soft hyphens removed, white space folded. */
export const normalisedName = (name: string): string =>
  name.normalize('NFKC').replace(INVISIBLE, '').toLowerCase().toUpperCase().toLowerCase().replace(/\s+/gu, ' ').trim();
