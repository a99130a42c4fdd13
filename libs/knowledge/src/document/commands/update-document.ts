import { type CommandMeta, Decisions, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Bodies } from '../bodies';
import { documentDecider } from '../document.decider';

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
    private readonly bodies: Bodies,
  ) {}

  async execute({ documentId, update: { content, ...fields }, meta }: UpdateDocument): Promise<Receipt> {
    if (content === undefined) return this.decisions.transact(documentDecider, documentId, { type: 'Update', ...fields }, meta);
    const body = await this.bodies.store(documentId, null, content.body);
    try {
      const receipt = await this.decisions.transact(documentDecider, documentId, { type: 'Update', ...fields, content: { mimeType: content.mimeType, ...body } }, meta);
      const { state } = await this.decisions.load(documentDecider, documentId);
      // Equal content, a repeat, or already replaced again: then nothing names this body.
      if (!('file' in state) || ![state.file, ...state.superseded].includes(body.file)) await this.bodies.discard([body]);
      return receipt;
    } catch (error) {
      await this.bodies.discard([body], error);
      throw error;
    }
  }
}
