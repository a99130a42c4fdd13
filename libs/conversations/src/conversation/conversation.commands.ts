import type { InvocationUsage } from '@app/models';
import type { CheckpointCommand } from './checkpoints';
import type { ConversationKind } from './conversation.events';
import type { MessagePart, QuestionPart } from './message-parts';
import type { Continue, TurnOrigin } from './open-turns';
import type { Provenance } from './provenance.schema';
import type { Title } from './titles';
import type { Respond, Wait } from './tool-approvals';

/** Whose conversation, with which Agent: what does not fit is unknown. */
export interface Participants {
  readonly userId: string;
  readonly agentId: string;
}

/** Asks a question, in a new or an existing conversation. */
export interface Ask extends Participants, TurnOrigin {
  readonly type: 'Ask';
  /** True when the caller named no conversation. */
  readonly create: boolean;
  readonly conversationId: string;
  readonly spaceId: string;
  /** Of a new conversation, normal by default. An existing one must have this kind. */
  readonly kind?: ConversationKind;
  /** For a new conversation. */
  readonly title: string;
  readonly messageId: string;
  readonly answerId: string;
  /** The message answered to, null for none; the last one by default. */
  readonly parentId?: string | null;
  readonly parts: readonly QuestionPart[];
  /** Tokens of the parts, where they were counted. */
  readonly tokens?: number;
}

/** Requests one more answer to a question, beside the existing ones. */
export interface Regenerate extends Participants, TurnOrigin {
  readonly type: 'Regenerate';
  /** The question, or one of its answers. */
  readonly messageId: string;
  readonly answerId: string;
}

/** What a user thinks of an answer; a rating of null takes it back. */
export interface GiveFeedback extends Participants {
  readonly type: 'GiveFeedback';
  readonly messageId: string;
  readonly rating: 'up' | 'down' | null;
  readonly comment?: string;
}

/** Ends a turn with its answer; `usage` is null where no model was called. */
export interface Answer {
  readonly type: 'Answer';
  readonly answerId: string;
  readonly parts: readonly MessagePart[];
  readonly status: 'complete' | 'stopped' | 'failed';
  readonly finishReason: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';
  readonly errorCode?: string;
  /** Models that did not answer, so that Knowledge was searched without them. */
  readonly degraded?: readonly ('vector' | 'rerank')[];
  readonly model: string;
  readonly usage: InvocationUsage | null;
  /** What it was made from. */
  readonly provenance?: Provenance;
  /** Tokens of the parts, where they were counted. */
  readonly tokens?: number;
}

/** What can be asked of a conversation. */
export type ConversationCommand =
  | Ask
  | Regenerate
  | GiveFeedback
  | Answer
  | Continue
  | Wait
  | Respond
  | (Participants & { readonly type: 'Update'; readonly title?: string; readonly archived?: boolean })
  /** `memories`: with what its user saved or proposed from it. */
  | (Participants & { readonly type: 'Delete'; readonly memories?: boolean })
  /** Also of the answer under way; a question goes with it. */
  | (Participants & { readonly type: 'DeleteMessage'; readonly messageId: string })
  | Title
  /** Deletion of a message that is erased already. */
  | { readonly type: 'RemoveMessage'; readonly messageId: string }
  /** Deletion that follows from the deletion of the Agent, the Space or the user. */
  | { readonly type: 'Remove' }
  | CheckpointCommand;
