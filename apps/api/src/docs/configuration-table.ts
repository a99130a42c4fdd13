import { configSchema } from '@app/kernel';
import { z } from 'zod';

/** The environment variables as a table, for the README. */
export const configurationTable = (): string => {
  const { properties } = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as { properties: Record<string, { description?: string; default?: unknown }> };
  const rows = Object.entries(properties).map(([name, { description = '', default: fallback }]) => `| \`${name}\` | ${defaultText(fallback)} | ${description} |`);
  return ['| variable | default | |', '|---|---|---|', ...rows].join('\n');
};

const defaultText = (value: unknown): string => (value === undefined ? '' : `\`${Array.isArray(value) ? value.join(',') : String(value)}\``);
