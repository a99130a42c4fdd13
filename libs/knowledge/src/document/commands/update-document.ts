import { type Blobs, BLOBS } from '@app/blobs';
import { type CommandMeta, Decisions, type Receipt, streamOf } from '@app/kernel';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { hashed } from '../content-hash';
import { documentDecider } from '../document.decider';
import { removeUnreferenced } from '../unreferenced';

export interface DocumentUpdate {
  readonly name?: string;
  readonly tagIds?: readonly string[];
  readonly content?: { readonly mimeType: string; readonly body: Buffer };
}

/** Renames a document, sets its tags or replaces its content, in one decision. */
export class UpdateDocument extends Command<Receipt> {
  constructor(
    readonly documentId: string,
    readonly update: DocumentUpdate,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateDocument)
export class UpdateDocumentHandler implements ICommandHandler<UpdateDocument> {
  constructor(
    private readonly decisions: Decisions,
    @Inject(BLOBS) private readonly blobs: Blobs,
  ) {}

  async execute({ documentId, update: { content, ...fields }, meta }: UpdateDocument): Promise<Receipt> {
    if (content === undefined) return this.decisions.transact(documentDecider, documentId, { type: 'Update', ...fields }, meta);
    const { name: file, size } = await this.blobs.put(streamOf(documentDecider.category, documentId), content.body, {});
    const replacement = { mimeType: content.mimeType, sizeBytes: size, contentHash: hashed(content.body).hash(), file };
    try {
      const receipt = await this.decisions.transact(documentDecider, documentId, { type: 'Update', ...fields, content: replacement }, meta);
      const { state } = await this.decisions.load(documentDecider, documentId);
      if (!('file' in state) || state.file !== file) await this.blobs.remove([file]);
      return receipt;
    } catch (error) {
      await removeUnreferenced(this.blobs, file, error);
      throw error;
    }
  }
}
