import { type EventContext, type IntegrationEvent, integrationSchemaIdOf, integrationTypeOf } from '@app/kernel';

/** A message as the brokers get it: messages of one key keep their order. */
export interface Message {
  readonly topic: string;
  readonly key: string;
  readonly value: string;
  readonly headers: Record<string, string>;
}

/**
 * The CloudEvents 1.0 envelope in structured mode: JSON, with the attributes that consumers look at first as headers too.
 * `id` is the id of the log's event, the same each time it is sent; `sequence` counts within the stream, so that a repeat
 * which comes late is known as one.
 */
export const messageOf = (
  { definition, data }: IntegrationEvent,
  { id, stream, revision, recordedAt }: EventContext,
  { source, topicPrefix }: { readonly source: string; readonly topicPrefix: string },
): Message => {
  const type = integrationTypeOf(definition);
  const envelope = {
    specversion: '1.0',
    id,
    source,
    type,
    subject: stream,
    time: recordedAt,
    sequence: String(revision),
    datacontenttype: 'application/json',
    dataschema: integrationSchemaIdOf(definition),
    data,
  };
  return {
    topic: topicPrefix + definition.subject,
    key: stream,
    value: JSON.stringify(envelope),
    headers: {
      'content-type': 'application/cloudevents+json; charset=UTF-8',
      ce_specversion: '1.0',
      ce_id: id,
      ce_type: type,
      ce_source: source,
    },
  };
};

/** Where integration events go. */
export interface Publisher {
  /** Resolves when the brokers hold all messages durably. When it rejects, some may have arrived: all are to be sent again. */
  publish(messages: readonly Message[]): Promise<void>;
  /** Answers in bounded time, with a reason without secrets. */
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
  /** Gives up what is being published. */
  close(): Promise<void>;
}
