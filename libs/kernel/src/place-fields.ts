import { z } from 'zod';
import { textSchema } from './name-schemas';
import type { Place } from './place';

/** The fields of a `Place` in a schema. */
export const placeFields = {
  page: z.number().int().positive().exactOptional().describe('The page, if there are pages.'),
  slide: z.number().int().positive().exactOptional().describe('The slide, in a presentation.'),
  sheet: textSchema(200).exactOptional().describe('The name of the sheet, in a workbook.'),
  row: z
    .number()
    .int()
    .positive()
    .exactOptional()
    .describe('The row, in a table; the first one, if there are several.'),
} satisfies { readonly [Field in keyof Place]-?: z.ZodType };
