import { type Blobs, BLOBS } from '@app/blobs';
import { type CommandMeta, Decisions, deriveId, type Receipt, stepOf, streamOf } from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { hashed } from '../content-hash';
import { documentDecider } from '../document.decider';
import { removeUnreferenced } from '../unreferenced';
import type { DocumentScope } from '../document.events';

export interface NewDocument {
  readonly scope: DocumentScope;
  /** Null for global documents. */
  readonly spaceId: string | null;
  /** Null unless the document is an Agent's own. */
  readonly agentId: string | null;
  readonly name: string;
  readonly mimeType: string;
  readonly provider: 'upload' | 'inline';
  readonly tagIds: readonly string[];
}

export interface AddedDocument {
  readonly documentId: string;
  readonly receipt: Receipt;
}

/** Adds a document; its ingestion follows. `label` tells several documents of one request apart. */
export class AddDocument extends Command<AddedDocument> {
  constructor(
    readonly document: NewDocument,
    readonly body: Buffer | AsyncIterable<Buffer>,
    readonly label: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(AddDocument)
export class AddDocumentHandler implements ICommandHandler<AddDocument> {
  constructor(
    private readonly decisions: Decisions,
    @Inject(BLOBS) private readonly blobs: Blobs,
  ) {}

  async execute({ document, body, label, meta }: AddDocument): Promise<AddedDocument> {
    const documentId = deriveId(meta.commandId, `document/${label}`);
    const content = hashed(body);
    const owner = document.spaceId === null ? {} : { spaceId: document.spaceId };
    const { name: file, size } = await this.blobs.put(streamOf(documentDecider.category, documentId), content.body, owner);
    try {
      const command = { type: 'Add', documentId, ...document, sizeBytes: size, contentHash: content.hash(), file } as const;
      const receipt = await this.decisions.transact(documentDecider, documentId, command, stepOf(meta, `document/${label}`));
      if (receipt.repeated) await this.blobs.remove([file]);
      return { documentId, receipt };
    } catch (error) {
      await removeUnreferenced(this.blobs, file, error);
      throw error;
    }
  }
}
