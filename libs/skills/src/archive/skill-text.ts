import { isUtf8 } from 'node:buffer';
import { hasAtMost, isName, isUnstorableText } from '@app/kernel/threads';
import { normalisedInstructions } from './content-hash';
import { conforms, FORMAT_KEYS, restored } from './format';
import { type Frontmatter, type FrontmatterBudget, readFrontmatter } from './frontmatter';
import {
  fail,
  MAX_DESCRIPTION,
  MAX_INSTRUCTIONS,
  MAX_NAME,
  MAX_TEXT_BYTES,
  type ParsedSkill,
  SkillFailure,
  type SkillWarning,
} from './skill';
import { slugOf } from './slug';

/** Bytes of the JSON of all keys that are kept: what is exported of them can be read again. */
export const MAX_KEPT_BYTES = 8 * 1024;

/** What a `SKILL.md` says. */
export type SkillText = Omit<ParsedSkill, 'files'>;

/** Reads a `SKILL.md`, called `path` in what was sent, its frontmatter against the `budget` of that. Throws `SkillFailure` `invalid_frontmatter` or `too_large`. */
export const readSkillText = (bytes: Uint8Array, path: string, budget?: FrontmatterBudget): SkillText => {
  const { head, body, warnings } = partsOf(textOf(bytes, path, budget), path);
  const frontmatter = readFrontmatter(head, path, budget);
  for (const key of frontmatter.quoted)
    warnings.push(warning('unquoted_colon', path, `${key} has a colon, and was read as if it stood in quotes.`));
  const description = describedIn(frontmatter, path);
  const { name: _, description: __, ...keys } = frontmatter.values;
  const kept = restored(keys);
  if (bytesOf(kept.frontmatter) > MAX_KEPT_BYTES)
    fail(
      'invalid_frontmatter',
      `Keys beside name and description take more than ${MAX_KEPT_BYTES} bytes. This one takes the most. Shorten it.`,
      { path, ...lineOf(frontmatter, longest(keys)) },
    );
  const named = textIn(frontmatter, 'name', path);
  const isRenamed = kept.slug === named && slugOf(named) === named;
  const isKept = kept.name !== undefined && (isRenamed || slugOf(kept.name) === named);
  const called = namedIn(isKept ? kept.name : named, { path, ...lineOf(frontmatter, 'name') });
  const { name, slug } = isKept && isRenamed ? { ...called, slug: named } : called;
  if (slug !== named)
    warnings.push(
      warning(
        'name_outside_grammar',
        path,
        `The name is kept. The Skill is found as ${slug}, which is a name in the format of Agent Skills.`,
      ),
    );
  for (const [key, value] of Object.entries(keys)) {
    if (!FORMAT_KEYS.has(key))
      warnings.push(warning('unknown_key', path, `The format has no key ${quote(key)}. It is kept.`));
    else if (!conforms(key, value))
      warnings.push(warning('unusual_value', path, `The format has other values of ${key}. This one is kept.`));
  }
  const instructions = normalisedInstructions(body);
  if (!hasAtMost(MAX_INSTRUCTIONS, instructions))
    fail('too_large', `The instructions have more than ${MAX_INSTRUCTIONS} characters. Move some to reference files.`, {
      path,
    });
  if (instructions === '')
    fail('invalid_frontmatter', 'No instructions follow the frontmatter. Write them below the second `---`.', { path });
  return { path, name, slug, description, instructions, frontmatter: kept.frontmatter, warnings };
};

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** The key whose value has the most bytes. */
const longest = (keys: Readonly<Record<string, unknown>>): string =>
  Object.keys(keys).reduce((most, key) => (bytesOf(keys[key]) > bytesOf(keys[most]) ? key : most));

/** Whether a `SKILL.md` says that its folder holds no other Skill, as an export says of one with reference files of that name. */
export const isWholeFolder = (bytes: Uint8Array, path: string, budget: FrontmatterBudget): boolean => {
  try {
    const { head } = partsOf(textOf(bytes, path, budget), path);
    const { name: _, description: __, ...keys } = readFrontmatter(head, path, budget).values;
    return restored(keys).isWhole === true;
  } catch (error) {
    // Said where it is read as a Skill.
    if (error instanceof SkillFailure) return false;
    throw error;
  }
};

const warning = (code: string, path: string, message: string): SkillWarning => ({ code, path, message });

const quote = (text: string): string => JSON.stringify(text.slice(0, MAX_NAME).toWellFormed());

const textOf = (bytes: Uint8Array, path: string, budget: FrontmatterBudget | undefined): string => {
  if (bytes.length > MAX_TEXT_BYTES) {
    readFrontmatter(partsOf(decoded(startOf(bytes), path), path, true).head, path, budget);
    fail('too_large', `SKILL.md has more than ${MAX_TEXT_BYTES} bytes. Move some of it to reference files.`, { path });
  }
  return decoded(bytes, path);
};

/** The bytes that a `SKILL.md` may have, without a character that begins among them and does not end there. */
const startOf = (bytes: Uint8Array): Uint8Array => {
  let end = MAX_TEXT_BYTES;
  while (end > MAX_TEXT_BYTES - 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
};

const decoded = (bytes: Uint8Array, path: string): string => {
  if (!isUtf8(bytes))
    return fail('invalid_frontmatter', 'This is not UTF-8. Save the file as UTF-8.', {
      path,
      line: firstBadLine(bytes),
    });
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const nul = text.indexOf('\0');
  return nul < 0
    ? text
    : fail('invalid_frontmatter', 'This has a NUL character. Leave it out.', {
        path,
        line: text.slice(0, nul).split('\n').length,
      });
};

const firstBadLine = (bytes: Uint8Array): number => {
  let [line, from] = [1, 0];
  for (;;) {
    const end = bytes.indexOf(0x0a, from);
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) return line;
    [line, from] = [line + 1, end + 1];
  }
};

const BOM = '\ufeff';

/** Of a text that was cut, what there is of the frontmatter where it does not end: it is too long. */
const partsOf = (
  text: string,
  path: string,
  isCut = false,
): { readonly head: string; readonly body: string; readonly warnings: SkillWarning[] } => {
  const warnings: SkillWarning[] = [];
  if (text.startsWith(BOM)) warnings.push(warning('byte_order_mark', path, 'The byte order mark was left out.'));
  if (text.includes('\r')) warnings.push(warning('line_ends', path, 'Lines end in LF now.'));
  const whole = (text.startsWith(BOM) ? text.slice(1) : text).replace(/\r\n?/g, '\n');
  const missing = 'Begin the file with a line `---`, then `name: ...` and `description: ...`, then a line `---`.';
  if (!isFence(whole, 0)) fail('invalid_frontmatter', missing, { path, line: 1 });
  // Line by line: to take all lines apart took most of the time and memory where there are many.
  const start = lineBehind(whole, 0);
  let end = start;
  while (end < whole.length && !isFence(whole, end)) end = lineBehind(whole, end);
  if (end >= whole.length && !isCut)
    fail('invalid_frontmatter', 'The frontmatter does not end. Put a line `---` below its last key.', {
      path,
      line: 1,
    });
  return { head: whole.slice(start, Math.max(end - 1, start)), body: whole.slice(lineBehind(whole, end)), warnings };
};

const FENCE = '---';

/** Whether the line that begins at an offset is `---`, and spaces. */
const isFence = (text: string, at: number): boolean =>
  text.startsWith(FENCE, at) && text.slice(at, lineBehind(text, at)).trimEnd() === FENCE;

/** Where the line behind that of an offset begins. */
const lineBehind = (text: string, at: number): number => {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
};

const lineOf = (
  { lines }: Frontmatter,
  key: string,
): { readonly line: number; readonly key: string } | { readonly key: string } => {
  const line = lines.get(key);
  return line === undefined ? { key } : { line, key };
};

/** The text of a required key. */
const textIn = (frontmatter: Frontmatter, key: string, path: string): string => {
  const at = { path, ...lineOf(frontmatter, key) };
  if (!frontmatter.lines.has(key)) fail('invalid_frontmatter', `This key is missing. Add \`${key}: ...\`.`, at);
  const text = frontmatter.texts.get(key)?.trim() ?? fail('invalid_frontmatter', 'The value must be a text.', at);
  return text === '' ? fail('invalid_frontmatter', 'The value is empty. Write a text.', at) : text;
};

const describedIn = (frontmatter: Frontmatter, path: string): string => {
  const description = textIn(frontmatter, 'description', path);
  const at = { path, ...lineOf(frontmatter, 'description') };
  if (!hasAtMost(MAX_DESCRIPTION, description))
    fail('invalid_frontmatter', `The description has more than ${MAX_DESCRIPTION} characters. Shorten it.`, at);
  if (isUnstorableText(description))
    fail('invalid_frontmatter', 'The description has characters that no text has.', at);
  return description;
};

const namedIn = (
  name: string,
  at: { readonly path: string; readonly line?: number; readonly key: string },
): { readonly name: string; readonly slug: string } => {
  if (!isName(name.trim(), MAX_NAME))
    fail('invalid_frontmatter', `A name has 1 to ${MAX_NAME} characters, none of them invisible.`, at);
  const slug = slugOf(name) ?? fail('invalid_frontmatter', 'A name has letters of one script, or digits.', at);
  return { name: name.normalize(), slug };
};
