import { z } from 'zod';

/** What a `multipart/form-data` body holds: text fields, and behind them its files, as parts named `file`. */
export interface MultipartBody<Fields extends z.ZodObject = z.ZodObject> {
  /** Checks the fields. */
  readonly fields: Fields;
  /** Documents the whole body. Files are read as they come, and never checked by it. */
  readonly schema: z.ZodObject;
  /** True if it may hold more than one file. */
  readonly several: boolean;
}

/** Makes the body of one file that `file` describes, with fields before it. */
export const withFile = <Fields extends z.ZodObject>(fields: Fields, file: string): MultipartBody<Fields> => ({
  fields,
  schema: z.strictObject({ ...fields.shape, file: z.file().describe(file) }),
  several: false,
});

/** Makes the body of one file or more. */
export const withFiles = <Fields extends z.ZodObject>(fields: Fields, files: string): MultipartBody<Fields> => ({
  fields,
  schema: z.strictObject({ ...fields.shape, file: z.array(z.file()).min(1).describe(files) }),
  several: true,
});

/** Makes the body of one file alone. */
export const onlyFile = (file: string): MultipartBody => withFile(z.strictObject({}), file);
