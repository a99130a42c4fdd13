/** Where a piece of a document stands in its file, each field where the format has it; numbers from 1. */
export interface Place {
  readonly page?: number;
  readonly slide?: number;
  readonly sheet?: string;
  /** In a table; the first, where it is of several. */
  readonly row?: number;
}

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
