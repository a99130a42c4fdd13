import { createHash } from 'node:crypto';

/** The longest name of a tool that every model takes, and all that one may hold: `^[a-zA-Z0-9_-]{1,64}$`. */
const LONGEST = 64;

/** Names of tools that are the product's own. */
export const OWN_TOOLS: ReadonlySet<string> = new Set([
  'search_knowledge',
  'load_skill',
  'search_skill',
  'read_skill_file',
  'propose_memory',
]);

/**
 * The name under which a model calls an operation: the id of its tool, then its own. It depends on nothing else, so that a call which
 * waits for approval never becomes another operation's. One that would be too long ends with a hash in place of the rest.
 */
export const toolNameOf = (toolId: string, operation: string): string => {
  const name = `${toolId}_${operation}`.replaceAll(/[^a-zA-Z0-9]+/g, (gap) => (/^[_-]+$/.test(gap) ? gap : '_'));
  const plain = name.replaceAll(/^_+|_+$/g, '');
  if (plain !== '' && plain.length <= LONGEST) return plain;
  const hash = createHash('sha256').update(`${toolId}\0${operation}`).digest('hex').slice(0, 8);
  return `${plain.slice(0, LONGEST - 9) || 'tool'}_${hash}`;
};
