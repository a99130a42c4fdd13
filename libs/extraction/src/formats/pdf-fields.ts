import { oneLine } from '../text-builder';

/** Of an annotation that is not shown. */
const HIDDEN = 2 | 32;
const MAX_FIELDS = 5_000;

/** What people filled into a page, and wrote onto it: neither is part of its text. Comments, and fields for passwords, are passed over. */
export const fieldTexts = (annotations: readonly unknown[]): readonly string[] => {
  const texts = annotations.slice(0, MAX_FIELDS).map((annotation) => fieldText(annotation as Annotation));
  return [...new Set(texts)].filter((text) => text !== '');
};

/** As PDF.js gives it. */
interface Annotation {
  readonly subtype?: string;
  readonly annotationFlags?: number;
  readonly fieldName?: string;
  readonly alternativeText?: string;
  readonly fieldValue?: unknown;
  readonly password?: boolean;
  readonly checkBox?: boolean;
  readonly radioButton?: boolean;
  readonly buttonValue?: string | null;
  readonly contentsObj?: { readonly str?: string };
}

const fieldText = (annotation: Annotation): string => {
  const { subtype, annotationFlags = 0, fieldName = '', alternativeText = '', password } = annotation;
  if ((annotationFlags & HIDDEN) !== 0 || password === true) return '';
  if (subtype === 'FreeText') return oneLine(annotation.contentsObj?.str ?? '');
  if (subtype !== 'Widget') return '';
  const value = valueOf(annotation);
  const name = oneLine(alternativeText) || oneLine(fieldName);
  return value === '' ? '' : name === '' ? value : `${name}: ${value}`;
};

const valueOf = ({ fieldValue, checkBox, radioButton, buttonValue }: Annotation): string => {
  const values = (Array.isArray(fieldValue) ? (fieldValue as readonly unknown[]) : [fieldValue]).filter(
    (value): value is string => typeof value === 'string',
  );
  if (checkBox === true && values[0] === 'Off') return '';
  // Of the buttons of a group, the one that is pressed.
  if (radioButton === true && values[0] !== buttonValue) return '';
  return oneLine(values.join(', '));
};
