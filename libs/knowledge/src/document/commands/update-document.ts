import { type CommandMeta, Decisions, isUnavailable, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Bodies, type StoredBody } from '../bodies';
import type { DocumentCommand } from '../document.commands';
import { documentDecider } from '../document.decider';

/** What changes of a document; what is absent stays. */
export interface DocumentUpdate {
  readonly name?: string;
  readonly tagIds?: readonly string[];
  /** As of the command `Update`. */
  readonly tagsKnown?: ReadonlySet<string>;
  readonly enabled?: boolean;
  /** Stored for this document already; removed again where nothing comes to name it. */
  readonly content?: { readonly mimeType: string; readonly body: StoredBody };
}

/** Renames a document, sets its tags, enables or disables it, or replaces its content, in one decision. */
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
    if (content === undefined)
      return this.decisions.transact(documentDecider, documentId, { type: 'Update', ...fields }, meta);
    const { body } = content;
    const receipt = await this.replace(
      documentId,
      { type: 'Update', ...fields, content: { mimeType: content.mimeType, ...body } },
      body,
      meta,
    );
    // Equal content, a repeat, or already replaced again: then nothing names this body.
    if (!(await this.mayBeNamed(documentId, body))) await this.bodies.discard([body]);
    return receipt;
  }

  private async replace(
    documentId: string,
    command: DocumentCommand,
    body: StoredBody,
    meta: CommandMeta,
  ): Promise<Receipt> {
    try {
      return await this.decisions.transact(documentDecider, documentId, command, meta);
    } catch (error) {
      await this.bodies.discard([body], error);
      throw error;
    }
  }

  /** True also where it cannot be known: what nothing names is swept later. */
  private async mayBeNamed(documentId: string, { file }: StoredBody): Promise<boolean> {
    try {
      const { state } = await this.decisions.load(documentDecider, documentId);
      return 'file' in state && [state.file, ...state.superseded].includes(file);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return true;
    }
  }
}
