import { type Input, Uploads } from '@app/http';
import { givenFields } from '@app/kernel';
import { Bodies, type DocumentUpdate, KnownTags } from '@app/knowledge';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { DocumentAccess } from './document-access';
import { type documentUpdate, replacedContent } from './documents-schemas';
import { readUpload, UNKNOWN_TYPE } from './upload-files';

interface Fields {
  readonly name?: string | undefined;
  readonly tagIds?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
}

/** Changes of documents as they are sent: as JSON, or as multipart with a file. */
@Injectable()
export class SentChanges {
  constructor(
    private readonly tags: KnownTags,
    private readonly bodies: Bodies,
    private readonly uploads: Uploads,
  ) {}

  /** What is to change in a document. New content is stored for it already. */
  of(found: DocumentAccess, request: FastifyRequest, body: Input<typeof documentUpdate>): Promise<DocumentUpdate> {
    return request.isMultipart() ? this.ofFile(found, request) : this.ofJson(found, body);
  }

  private async ofJson(found: DocumentAccess, body: Input<typeof documentUpdate>): Promise<DocumentUpdate> {
    const { document } = found;
    const { content, mimeType = document.mimeType, ...given } = body.parse();
    const fields = await this.fields(found, given);
    if (content === undefined) return fields;
    return { ...fields, content: { mimeType, body: await this.bodies.store(document.id, null, Buffer.from(content)) } };
  }

  private async ofFile(found: DocumentAccess, request: FastifyRequest): Promise<DocumentUpdate> {
    const { document } = found;
    let fields: DocumentUpdate = {};
    const { files } = await readUpload(
      request,
      { uploads: this.uploads, bodies: this.bodies },
      {
        body: replacedContent,
        allow: async (given) => void (fields = await this.fields(found, given)),
        store: (body) => this.bodies.store(document.id, null, body),
        // The document keeps its name.
        nameOf: () => 'file',
      },
    );
    const [file] = files;
    if (file === undefined) return fields;
    // A type that nothing tells is that of the document.
    const mimeType = file.mimeType === UNKNOWN_TYPE ? document.mimeType : file.mimeType;
    return { ...fields, content: { mimeType, body: file.body } };
  }

  /** The tags that other Spaces gave to a global document are not shown here, and stay. */
  private async fields({ spaceId }: DocumentAccess, { name, tagIds, enabled }: Fields): Promise<DocumentUpdate> {
    await this.tags.assert(spaceId, tagIds ?? []);
    return givenFields({ name, enabled, tagIds, tagsKnown: tagIds && (await this.tags.of(spaceId)) });
  }
}
