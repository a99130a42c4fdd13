import { z } from 'zod';
import { textSchema } from './names';

/** Fields that say where a piece of a document stands in its file, each where the format has it; numbers from 1. */
export const placeFields = {
  page: z.number().int().positive().exactOptional().describe('The page, where there are pages.'),
  slide: z.number().int().positive().exactOptional().describe('The slide, in a presentation.'),
  sheet: textSchema(200).exactOptional().describe('The name of the sheet, in a workbook.'),
  row: z.number().int().positive().exactOptional().describe('The row, in a table; the first, where it is of several.'),
};

const place = z.object(placeFields);

/** Where a piece of a document stands in its file: a page of a PDF, a slide, a row of a sheet. */
export type Place = z.output<typeof place>;

/** A place without absent fields. */
export const placeOf = ({
  page,
  slide,
  sheet,
  row,
}: { readonly [Field in keyof Place]?: Place[Field] | null | undefined }): Place => ({
  ...(page === undefined || page === null ? {} : { page }),
  ...(slide === undefined || slide === null ? {} : { slide }),
  ...(sheet === undefined || sheet === null ? {} : { sheet }),
  ...(row === undefined || row === null ? {} : { row }),
});

/** True if two places are equal. */
export const isSamePlace = (a: Place | undefined, b: Place | undefined): boolean =>
  a?.page === b?.page && a?.slide === b?.slide && a?.sheet === b?.sheet && a?.row === b?.row;
