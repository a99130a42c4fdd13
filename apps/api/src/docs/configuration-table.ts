import { configSchema } from '@app/kernel';
import { z } from 'zod';

/** The environment variables as a table, for docs/configuration.md. */
export const configurationTable = (): string => {
  const rows = Object.entries(configSchema.shape).map(
    ([name, field]) => `| \`${name}\` | ${defaultText(field)} | ${field.description ?? ''} |`,
  );
  return ['| variable | default | |', '|---|---|---|', ...rows].join('\n');
};

const defaultText = (field: z.ZodType): string => {
  if (!(field instanceof z.ZodDefault)) return '';
  const value: unknown = field.def.defaultValue;
  return `\`${Array.isArray(value) ? value.join(',') : String(value)}\``;
};
