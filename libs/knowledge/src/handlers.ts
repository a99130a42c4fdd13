import { AddDocumentsHandler } from './document/commands/add-documents';
import { AttachTagHandler } from './document/commands/attach-tag';
import { DeleteDocumentHandler } from './document/commands/delete-document';
import { DetachTagHandler } from './document/commands/detach-tag';
import { ReprocessDocumentHandler } from './document/commands/reprocess-document';
import { UpdateDocumentHandler } from './document/commands/update-document';
import { CreateTagHandler } from './tags/commands/create-tag';
import { DeleteTagHandler } from './tags/commands/delete-tag';
import { UpdateTagHandler } from './tags/commands/update-tag';

/** Every command handler of the context. They need `Decisions`, `Bodies` and `Batches`. */
export const knowledgeHandlers = [
  AddDocumentsHandler,
  AttachTagHandler,
  DeleteDocumentHandler,
  DetachTagHandler,
  ReprocessDocumentHandler,
  UpdateDocumentHandler,
  CreateTagHandler,
  DeleteTagHandler,
  UpdateTagHandler,
];
