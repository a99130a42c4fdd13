import { aggregates } from '@app/hosting';
import { type IntegrationDefinition, integrationSchemaIdOf, integrationTypeOf } from '@app/kernel';
import { z } from 'zod';
import { type JsonSchema, typeText } from './event-catalogue';

/** Folder of the contract with those who consume integration events. */
export const INTEGRATION_EVENTS = 'docs/integration-events';

/** The committed schema file of each integration event, by path: JSON Schema of its `data`. */
export const integrationSchemaFiles: Readonly<Record<string, () => string>> = Object.fromEntries(
  aggregates.integrations.map((definition) => [
    `${INTEGRATION_EVENTS}/${definition.name}.v${definition.version}.json`,
    () => `${JSON.stringify(schemaOf(definition), null, 2)}\n`,
  ]),
);

/** Written as what a consumer may be sent, so that a field which is added later breaks nobody's check. */
const schemaOf = (definition: IntegrationDefinition): object => {
  const { $schema, ...schema } = z.toJSONSchema(definition.data, { io: 'input' });
  return {
    $schema,
    $id: integrationSchemaIdOf(definition),
    title: integrationTypeOf(definition),
    description: definition.description,
    ...schema,
  };
};

/** All integration events as a part of a page, by topic. */
export const integrationEventTables = (): string =>
  aggregates.subjects
    .map((subject) => {
      const rows = aggregates.integrations.filter((definition) => definition.subject === subject).map(row);
      return ['', `### \`${subject}\``, '', '| type | data | |', '|---|---|---|', ...rows].join('\n');
    })
    .join('\n');

const row = (definition: IntegrationDefinition): string => {
  const fields = Object.entries(definition.data.shape).map(
    ([name, schema]) => `\`${name}\`: ${typeText(z.toJSONSchema(schema as z.ZodType) as JsonSchema)}`,
  );
  return `| [\`${integrationTypeOf(definition)}\`](${definition.name}.v${definition.version}.json) | ${fields.join('<br>')} | ${definition.description} |`;
};
