import type { AnyEvent } from './event-definition';
import { z } from 'zod';

/** One kind of integration event: a promise to others, smaller than the event of the log behind it and without its content. */
export interface IntegrationDefinition<Data extends z.ZodObject = z.ZodObject> {
  /** Never renamed. */
  readonly name: string;
  /** Fields are added within a version; any other change makes the next one, which is a type of its own. */
  readonly version: number;
  /** What it is about, in the plural; each subject has a topic. */
  readonly subject: string;
  readonly description: string;
  /** Ids, states and numbers. */
  readonly data: Data;
}

/** A message for other systems: `data` is of the schema of its definition. */
export interface IntegrationEvent {
  readonly definition: IntegrationDefinition;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Makes the integration event of each event from its data and the id of its aggregate. Types without an entry have none. */
export type IntegrationMapping<Event extends AnyEvent> = {
  readonly [Type in Event['type']]?: (
    data: Extract<Event, { readonly type: Type }>['data'],
    id: string,
  ) => IntegrationEvent;
};

/** The integration events of one aggregate. */
export interface Integrations<Event extends AnyEvent = AnyEvent> {
  readonly definitions: readonly IntegrationDefinition[];
  readonly mapping: IntegrationMapping<Event>;
  /**
   * Whether a stream is private, by the stored data of its first event: others do not learn that it exists or is
   * deleted.
   */
  readonly isPrivate?: (first: Readonly<Record<string, unknown>>) => boolean;
}

/** Declares one kind of integration event. */
export const defineIntegration = <Data extends z.ZodObject>(
  definition: IntegrationDefinition<Data>,
): IntegrationDefinition<Data> => Object.freeze(definition);

/** An integration event with the data that its definition asks for. */
export const integrationEvent = <Data extends z.ZodObject>(
  definition: IntegrationDefinition<Data>,
  data: z.output<Data>,
): IntegrationEvent => ({ definition, data });

/** The names of those fields that a change gives. */
export const given = <Field extends string>(
  fields: z.ZodEnum<{ [F in Field]: F }>,
  change: Readonly<Record<string, unknown>>,
): Field[] => (fields.options as Field[]).filter((field) => change[field] !== undefined);

/** CloudEvents `type`: `agent-platform.agent.created.v1`. */
export const integrationTypeOf = ({ name, version }: IntegrationDefinition): string =>
  `agent-platform.${name}.v${version}`;

/** CloudEvents `dataschema`, which is the `$id` of the committed schema file. */
export const integrationSchemaIdOf = ({ name, version }: IntegrationDefinition): string =>
  `urn:agent-platform:integration-event:${name}:v${version}`;
