import type { CountedTokens } from './chat-tokens';

/** Tokens of a file at least, about, where nobody says how many its pages take. */
const LEAST = 1_000;

/** Bytes of a file that take one token: about, and at the least that a file may have. */
interface BytesPerToken {
  readonly about: number;
  readonly least: number;
}
/** Written words are a token for four bytes, and one for each at the most. */
const WORDS: BytesPerToken = { about: 4, least: 1 };
/** Ten to thirty tokens a second, of which usual sounds have 16,000 bytes, and small ones 750. */
const SOUND: BytesPerToken = { about: 500, least: 20 };
/** Pages: scanned ones have 200,000 bytes, those of packed words alone four for each token, or less. */
const PAGES: BytesPerToken = { about: 100, least: 2 };

const sortOf = (mediaType: string): BytesPerToken => {
  if (/^text\/|[/+](?:json|xml|yaml|csv)\b/i.test(mediaType)) return WORDS;
  return /^(?:audio|video)\//i.test(mediaType) ? SOUND : PAGES;
};

/** Tokens of a file that is no image. Providers count what is in it, which nobody here has read: what is held grows with its size. */
export const fileTokens = (mediaType: string, bytes: number): CountedTokens => {
  const { about, least } = sortOf(mediaType);
  return { counted: Math.max(LEAST, Math.ceil(bytes / about)), most: Math.max(LEAST, Math.ceil(bytes / least)) };
};
