/** Longest title that a model may give, characters. */
export const MAX_MODEL_TITLE = 60;
/** A first line that is longer is no title: a model that was led astray, or that talks. */
const MAX_LINE = 200;

/**
 * A model's answer as a title: one line of plain text with at most 60 characters, without control characters,
 * surrounding quotes, Markdown, HTML and links, so lists show only words. Undefined if no words are left, or if the
 * line is not a title.
 */
export const titleFrom = (answer: string): string | undefined => {
  const lines = answer
    .normalize('NFC')
    .toWellFormed()
    .replace(THOUGHTS, ' ')
    .split(/[\n\r\u2028\u2029]+/)
    .map(plain);
  const title = lines.find((line) => WORDS.test(line));
  return title === undefined || title.length > MAX_LINE ? undefined : shortened(title);
};

/** What models of some providers think, written into their text. */
const THOUGHTS = /<think(?:ing)?>[\s\S]*?(?:<\/think(?:ing)?>|$)/gi;
const WORDS = /[\p{L}\p{N}]/u;
const LABEL = /^\s*(?:title|titel)\s*:\s*/i;
const IMAGE = /!\[[^\]]*\]\([^)]*\)?/g;
const LINK = /\[([^\]]*)\]\([^)]*\)?/g;
const TAG = /<\/?[a-z!][^>]*>?/gi;
/** Whatever an application might make a link of by itself. */
const ADDRESS = /(?:\b[a-z][a-z0-9+.-]*:\/\/|\b(?:javascript|data|mailto|vbscript|tel):|\bwww\.)\S*/gi;
const MARKS = /[*`~#<>[\]|\\]|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu;
const QUOTES = /^["'“”„«»‹›‘’「」\s-]+|["'“”„«»‹›‘’「」\s]+$/gu;

const plain = (line: string): string => {
  const words = line
    .replace(/[\p{C}\s]+/gu, ' ')
    .replace(IMAGE, ' ')
    .replace(LINK, '$1')
    .replace(TAG, ' ')
    .replace(ADDRESS, ' ')
    .replace(MARKS, '')
    .replace(LABEL, '')
    .replace(/\s+/g, ' ')
    .replace(QUOTES, '');
  return /^[^.]*\.$/.test(words) ? words.slice(0, -1) : words;
};

const shortened = (title: string): string => {
  if (title.length <= MAX_MODEL_TITLE) return title;
  const cut = title
    .slice(0, MAX_MODEL_TITLE - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, '');
  const end = cut.lastIndexOf(' ');
  return `${cut.slice(0, end > MAX_MODEL_TITLE / 2 ? end : cut.length).trimEnd()}…`;
};
