import { defineEvent, placeFields, sensitive, textSchema } from '@app/kernel';
import { invocationUsage } from '@app/models';
import { z } from 'zod';
import { invocation } from './checkpoint.events';
import { copiedText, provenanceUntilNow, turnBegun } from './provenance.schema';

const id = z.uuid();
const text = textSchema(4_000_000);
const chunk = { chunkId: z.string(), text, start: z.number().int(), end: z.number().int() };

/** A passage that an answer may cite, as it was found. */
export const passage = z.strictObject({
  documentId: id,
  documentName: text,
  documentRevision: z.number().int().nonnegative(),
  mediaType: z.string(),
  headings: z.array(text),
  ...chunk,
  ...placeFields,
  chunks: z.array(z.strictObject(chunk)),
});

export const toolApprovalRequested = defineEvent({
  type: 'ToolApprovalRequested',
  description:
    'An answer waits until its user approves or denies the tool calls in `callIds`. This event and the saved parts hold all that any process needs to continue.',
  data: z.strictObject({
    conversationId: id,
    messageId: id,
    parentId: id,
    callIds: z.array(z.string()),
    model: z.string(),
    /** Of the steps until now. */
    usage: invocationUsage.nullable(),
    degraded: z.array(z.enum(['vector', 'rerank'])).exactOptional(),
    /** Calls of models until now; absent in earlier versions, as `began` is. */
    invocations: z.array(invocation).exactOptional(),
    began: turnBegun.exactOptional(),
    /** For where the answer is stopped while it waits; absent in earlier versions. */
    provenance: provenanceUntilNow.exactOptional(),
    /** What the answer may cite, as it was recorded before `sources`. */
    passages: sensitive(z.array(passage)).exactOptional(),
    /** What the answer may cite, by number: each passage as JSON. */
    sources: sensitive(z.array(copiedText)).exactOptional(),
  }),
  entity: 'messageId',
});

export const toolApprovalResponded = defineEvent({
  type: 'ToolApprovalResponded',
  description: 'The user approved or denied a call of a tool.',
  data: z.strictObject({ conversationId: id, messageId: id, callId: z.string(), approved: z.boolean() }),
});
