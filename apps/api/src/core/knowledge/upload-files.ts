import { mediaTypeByName } from '@app/extraction/threads';
import { input, InvalidInput, type MultipartBody, type Uploads } from '@app/http';
import type { Bodies, NewDocument, StoredBody } from '@app/knowledge';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { documentName, type UploadFields } from './documents-schemas';

/** A file that is stored and not yet a document. */
export interface UploadedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly body: StoredBody;
}

/** How the files of a multipart body are taken. */
export interface UploadOptions<Fields extends z.ZodObject> {
  readonly body: MultipartBody<Fields>;
  /** Asked with the fields before the first file is read: throws for what is not allowed. */
  readonly allow: (fields: z.output<Fields>) => Promise<void>;
  /** Where the n-th file is stored, and under which name if not under its own. */
  readonly store: (body: AsyncIterable<Buffer>, fields: z.output<Fields>, index: number) => Promise<StoredBody>;
  readonly nameOf?: (fields: z.output<Fields>) => string | undefined;
}

/**
 * Reads a multipart body: fields (`tagIds` repeated or comma-separated), then one or more parts `file`, which stream
 * to the blob store. Removes all of them if anything is wrong.
 */
export const readUpload = async <Fields extends z.ZodObject>(
  request: FastifyRequest,
  { uploads, bodies }: { readonly uploads: Uploads; readonly bodies: Bodies },
  { body: { fields: schema, several }, allow, store, nameOf }: UploadOptions<Fields>,
): Promise<{ readonly fields: z.output<Fields>; readonly files: readonly UploadedFile[] }> => {
  const given: Record<string, unknown> = {};
  const files: UploadedFile[] = [];
  let taken: { readonly fields: z.output<Fields> } | undefined;
  try {
    for await (const part of uploads.parts(request)) {
      if (part.kind === 'field') {
        if (taken !== undefined) throw fault(part.name, 'fields_after_files', 'Fields must come before the files.');
        collect(given, part.name, part.value);
        continue;
      }
      if (part.name !== 'file') throw fault(part.name, 'unknown_field', 'Files are sent as parts named file.');
      if (!several && files.length > 0) throw fault('file', 'too_many_files', 'Send one file.');
      if (taken === undefined) {
        taken = { fields: input(schema, given) };
        await allow(taken.fields);
      }
      const name = fileName(nameOf?.(taken.fields) ?? part.fileName);
      const body = await store(part.body, taken.fields, files.length);
      files.push({ name, mimeType: mimeTypeOf(part.mimeType, [part.fileName, name]), body });
    }
    if (taken === undefined) throw fault('file', 'required', 'At least one file is required.');
    return { fields: taken.fields, files };
  } catch (error) {
    await bodies.discard(files.map(({ body }) => body));
    throw error;
  }
};

/** What an upload adds. */
export const documentOf = (
  { name, mimeType, body }: UploadedFile,
  { scope, tagIds }: UploadFields,
  agent: { readonly agentId: string; readonly spaceId: string },
): NewDocument => ({
  ...placeOf(scope, agent),
  name,
  mimeType,
  provider: 'upload',
  tagIds,
  body,
});

/** Where a document of a scope belongs. */
export const placeOf = (
  scope: NewDocument['scope'],
  { agentId, spaceId }: { readonly agentId: string; readonly spaceId: string },
): Pick<NewDocument, 'scope' | 'agentId' | 'spaceId'> => ({
  scope,
  agentId: scope === 'agent' ? agentId : null,
  spaceId: scope === 'global' ? null : spaceId,
});

const collect = (given: Record<string, unknown>, name: string, value: string): void => {
  if (name === 'tagIds')
    given[name] = [
      ...((given[name] as string[] | undefined) ?? []),
      ...value
        .split(',')
        .map((id) => id.trim())
        .filter((id) => id !== ''),
    ];
  else if (Object.hasOwn(given, name)) throw fault(name, 'repeated', 'Must be given once.');
  else Object.defineProperty(given, name, { value, enumerable: true });
};

const fileName = (name: string): string => {
  const checked = documentName.safeParse(name);
  if (!checked.success)
    throw fault('file', 'invalid_name', 'The file needs a name of 1 to 500 characters without control characters.');
  return checked.data;
};

/** What a file is if neither its part nor its name says it. */
export const UNKNOWN_TYPE = 'application/octet-stream';

/** Browsers, curl and libraries know few types, and say of the others nothing, or `text/plain`: then the ending of the name decides. */
const mimeTypeOf = (declared: string, names: readonly string[]): string =>
  declared !== '' && declared !== UNKNOWN_TYPE && declared !== 'text/plain'
    ? declared
    : (names.map(mediaTypeByName).find((type) => type !== undefined) ?? (declared === '' ? UNKNOWN_TYPE : declared));

const fault = (path: string, code: string, message: string): InvalidInput =>
  new InvalidInput(code === 'unknown_field' ? 'unknown_field' : 'invalid_body', [{ path, code, message }]);
