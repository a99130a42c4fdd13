import { z } from 'zod';

/** What fields say that many resources have. */
const COMMON: Readonly<Record<string, string>> = {
  id: 'Its id.',
  createdAt: 'When it was created, ISO 8601 in UTC.',
  updatedAt: 'When it was changed last, ISO 8601 in UTC.',
  revision: 'Its revision: the `etag` that `If-Match` takes.',
};

type Texts<Shape> = Readonly<{ [Field in keyof Shape]?: string | true }>;

/**
 * The fields of a row that are shown, in this order, each with a sentence for the documentation; `true` for the sentence that
 * ids, times and revisions have in common. What is not named here does not leave, also when the row gains it later.
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
