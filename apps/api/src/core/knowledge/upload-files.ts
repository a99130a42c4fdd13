import { extname } from 'node:path';
import { input, InvalidInput, parts } from '@app/http';
import type { CommandMeta } from '@app/kernel';
import { addedDocumentId, type Bodies, type NewDocument, type StoredBody } from '@app/knowledge';
import type { FastifyRequest } from 'fastify';
import { documentName, type UploadFields, uploadFields } from './documents-schemas';

/** A file that is stored and not yet a document. */
export interface UploadedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly body: StoredBody;
}

export interface Upload {
  readonly fields: UploadFields;
  readonly files: readonly UploadedFile[];
}

/**
 * Reads a multipart body: the fields `scope`, `name` and `tagIds` (repeated or comma-separated), then one or more parts
 * `file`, which stream to the blob store. `allow` is asked with the fields before the first file is read. When anything
 * is wrong, nothing stays.
 */
export const readUpload = async (
  request: FastifyRequest,
  bodies: Bodies,
  spaceId: string,
  meta: CommandMeta,
  allow: (fields: UploadFields) => Promise<void>,
): Promise<Upload> => {
  const given: Record<string, unknown> = {};
  const files: UploadedFile[] = [];
  let fields: UploadFields | undefined;
  try {
    for await (const part of parts(request)) {
      if (part.kind === 'field') {
        if (fields !== undefined) throw fault(part.name, 'fields_after_files', 'Fields must come before the files.');
        collect(given, part.name, part.value);
        continue;
      }
      if (part.name !== 'file') throw fault(part.name, 'unknown_field', 'Files are sent as parts named file.');
      if (fields === undefined) {
        fields = input(uploadFields, given);
        await allow(fields);
      }
      const name = fileName(fields.name ?? part.fileName);
      const body = await bodies.store(
        addedDocumentId(meta, files.length),
        fields.scope === 'global' ? null : spaceId,
        part.body,
      );
      files.push({ name, mimeType: mimeTypeOf(part.mimeType, part.fileName), body });
    }
    if (fields === undefined) throw fault('file', 'required', 'At least one file is required.');
    return { fields, files };
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

/** Browsers and curl do not know Markdown: then the ending of the name decides. */
const mimeTypeOf = (declared: string, name: string): string => {
  if (declared !== '' && declared !== 'application/octet-stream') return declared;
  const known: Readonly<Record<string, string>> = {
    '.md': 'text/markdown',
    '.markdown': 'text/markdown',
    '.txt': 'text/plain',
  };
  return known[extname(name).toLowerCase()] ?? 'application/octet-stream';
};

const fault = (path: string, code: string, message: string): InvalidInput =>
  new InvalidInput(code === 'unknown_field' ? 'unknown_field' : 'invalid_body', [{ path, code, message }]);
