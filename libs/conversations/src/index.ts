export type { AnsweringAgent } from './answering/answering';
export { Compactor } from './answering/compactor';
export { MeteredCompletions } from './answering/metered-completions';
export { History, type RecordedCheckpoint } from './answering/history';
export { type AnswerProvenance, ProvenanceReader } from './answering/provenance-reader';
export {
  AGENT_MEMORIES,
  type AgentMemories,
  type AppliedMemories,
  type MemoryProposal,
  type ProposedMemory,
} from './answering/memories';
export { AGENT_SKILLS, type AgentSkills } from './answering/skills';
export { knowledgeTool } from './answering/knowledge-tool';
export { type Requester, RETRIEVER, type Retriever } from './answering/retriever';
export { AGENT_TOOLS, type AgentTools, type Tool, type ToolOutput } from './answering/tools';
export { type AnsweredTurn, type FinishedTurn, Turn } from './answering/turn';
export type { Question } from './answering/question';
export { Turns } from './answering/turns';
export type { SaidMeanwhile } from './answering/said-meanwhile';
export type { AttachmentEvent } from './attachment/attachment.events';
export { type Attached, Attachments, type GivenPart } from './attachment/attachments';
export { MOST_FILE_BYTES } from './attachment/media-type';
export { DeleteConversation } from './conversation/commands/delete-conversation';
export { DeleteMessage } from './conversation/commands/delete-message';
export { GiveFeedback } from './conversation/commands/give-feedback';
export { UpdateConversation } from './conversation/commands/update-conversation';
export { boundary } from './conversation/checkpoint.events';
export type { Participants } from './conversation/conversation.commands';
export { conversationDecider } from './conversation/conversation.decider';
export {
  conversationKind,
  type ConversationKind,
  finishReason,
  degradedPart,
  conversationEvents,
  type ConversationEvent,
} from './conversation/conversation.events';
export { textBehind } from './conversation/growing-words';
export {
  toolPart,
  dataMemoryPart,
  messagePart,
  type TextPart,
  type FilePart,
  type ReasoningPart,
  type ToolPart,
  type DataMemoryPart,
  type SourceDocumentPart,
  type MessagePart,
  textOf,
} from './conversation/message-parts';
export type { Provenance } from './conversation/provenance.schema';
export { type Generation, Generator } from './generation/generator';
export { faultOfSchema } from './generation/json-schema';
export { type MediaCaller, MediaGenerator } from './generation/media-generator';
export { passagesOf } from './generation/script';
export { ObjectGenerator } from './generation/object-generator';
export { ConversationsModule } from './conversations.module';
export { type IncognitoMessage } from './incognito/incognito-conversation';
export { IncognitoConversations } from './incognito/incognito-conversations';
export { IncognitoIds } from './incognito/incognito-ids';
export {
  CONVERSATIONS_OF,
  type ConversationsOf,
  SEARCHED_MESSAGES,
  conversationScope,
  ATTACHMENTS_OF,
  type AttachmentsOf,
} from './lookups';
export { Titler } from './titling/titler';
