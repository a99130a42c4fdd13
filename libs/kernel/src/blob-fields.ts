import { z } from 'zod';
import { markedFields } from './marked-fields';

const holding = new WeakSet<z.ZodType>();
const releasing = new WeakSet<z.ZodType>();
const blobName = z.string().min(1);

/** A field of an event's data that names a stored body: the event's aggregate holds it from then on, until an event releases it. */
export const heldBlob = (): z.ZodString => marked(blobName.clone(), holding);

/** A field of an event's data that names stored bodies which its aggregate holds no longer. */
export const releasedBlobs = (): z.ZodArray<z.ZodString> => marked(z.array(blobName), releasing);

const marked = <T extends z.ZodType>(schema: T, as: WeakSet<z.ZodType>): T => {
  as.add(schema);
  return schema;
};

/** The fields of an event's data that name stored bodies, as paths. Names are not encrypted. */
export interface BlobFields {
  readonly held: readonly string[];
  readonly released: readonly string[];
}

export const blobFields = (schema: z.ZodObject): BlobFields => ({
  held: markedFields(schema, holding),
  released: markedFields(schema, releasing),
});
