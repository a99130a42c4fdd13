import { z } from 'zod';

/** What fields say that many resources have. */
const COMMON: Readonly<Record<string, string>> = {
  id: 'Its id.',
  createdAt: 'When it was created, ISO 8601 in UTC.',
  updatedAt: 'When it was last changed, ISO 8601 in UTC.',
  revision: 'Its revision: the `etag` for `If-Match`.',
};

type Texts<Shape> = Readonly<{ [Field in keyof Shape]?: string | true }>;

/**
 * Selects the fields of a row that are shown, in this order, each with a sentence for the documentation; `true` takes
 * the common sentence for ids, times and revisions. A field that is not listed stays hidden, also if it is added to
 * the row later.
 */
export const exposed = <Shape extends z.ZodRawShape, Named extends Texts<Shape>>(
  { shape }: z.ZodObject<Shape>,
  texts: Named,
): z.ZodObject<Pick<Shape, keyof Named & keyof Shape>> =>
  z.object(
    // `fromEntries` forgets which fields there are: those of `texts`.
    Object.fromEntries(
      Object.entries(texts as Record<string, string | true>).map(([name, text]) => [
        name,
        (shape[name] as z.ZodType).describe(text === true ? commonText(name) : text),
      ]),
    ) as unknown as Pick<Shape, keyof Named & keyof Shape>,
  );

const commonText = (name: string): string => {
  const text = COMMON[name];
  if (text === undefined) throw new Error(`the field ${name} needs a sentence of its own`);
  return text;
};
