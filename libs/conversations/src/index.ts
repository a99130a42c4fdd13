export { Answerer } from './answering/answerer';
export type { AnsweringAgent } from './answering/answering';
export { BranchContexts } from './answering/branch-context';
export { Compactor } from './answering/compactor';
export { MeteredCompletions } from './answering/metered-completions';
export { History, type RecordedCheckpoint } from './answering/history';
export { type AnswerProvenance, ProvenanceReader } from './answering/provenance-reader';
export { Summariser } from './answering/summariser';
export {
  AGENT_MEMORIES,
  type AgentMemories,
  type AppliedMemories,
  type MemoryProposal,
  type ProposedMemory,
} from './answering/memories';
export { AGENT_SKILLS, type AgentSkills, type LoadableSkill } from './answering/skills';
export { knowledgeTool } from './answering/knowledge-tool';
export { type Requester, type RetrievedPassage, RETRIEVER, type Retriever } from './answering/retriever';
export { AGENT_TOOLS, type AgentTools, type Tool, type ToolOutput } from './answering/tools';
export { type AnsweredTurn, type FinishedTurn, Turn } from './answering/turn';
export type { Question } from './answering/question';
export { Turns } from './answering/turns';
export type { SaidMeanwhile } from './answering/said-meanwhile';
export * from './attachment/attachment.decider';
export * from './attachment/attachment.events';
export { type Attached, Attachments, type GivenPart } from './attachment/attachments';
export { MOST_FILE_BYTES } from './attachment/media-type';
export { DeleteConversation } from './conversation/commands/delete-conversation';
export { DeleteMessage } from './conversation/commands/delete-message';
export { GiveFeedback } from './conversation/commands/give-feedback';
export { UpdateConversation } from './conversation/commands/update-conversation';
export * from './conversation/checkpoint.events';
export type { Checkpoint } from './conversation/checkpoints';
export * from './conversation/conversation.aggregate';
export * from './conversation/conversation.commands';
export * from './conversation/conversation.decider';
export * from './conversation/conversation.events';
export { textBehind } from './conversation/growing-words';
export * from './conversation/message-parts';
export { type Provenance, provenance } from './conversation/provenance.schema';
export { type GeneratedText, type Generation, Generator } from './generation/generator';
export { faultOfSchema } from './generation/json-schema';
export { type MediaCaller, MediaGenerator } from './generation/media-generator';
export { passagesOf } from './generation/script';
export { type GeneratedObject, ObjectGenerator } from './generation/object-generator';
export { ConversationsModule } from './conversations.module';
export { type IncognitoMessage } from './incognito/incognito-conversation';
export { IncognitoConversations } from './incognito/incognito-conversations';
export { IncognitoIds } from './incognito/incognito-ids';
export * from './lookups';
export { Titler } from './titling/titler';
