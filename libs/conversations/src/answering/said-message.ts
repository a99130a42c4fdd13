import { setImmediate as turn } from 'node:timers/promises';
import { countTokens } from '@app/kernel';
import { type ChatMessage, imageTokens, mostTokens } from '@app/models';
import { isImage } from '../attachment/media-type';
import type { Boundary } from '../conversation/checkpoint.events';
import type { MessagePart } from '../conversation/message-parts';
import { type SeenImages, shownParts, type SkillTexts, wordsOf } from './shown-parts';

/** Tokens that a message takes beside its words, about. */
const OF_MESSAGE = 4;

/** Characters that are counted in one go: a few milliseconds. */
const SLICE = 16_384;
/**
 * Most characters of a message whose tokens are recorded with it: longer ones are counted on demand, so no answer waits
 * for it.
 */
const MOST_RECORDED = 4 * SLICE;

/**
 * Tokens of a message in `cl100k_base`, about: those of other models are rarely more. Counted in slices, so other work
 * gets its turn.
 */
const tokensOfTexts = async (texts: readonly string[]): Promise<number> => {
  let total = OF_MESSAGE;
  for (const text of texts)
    for (let from = 0; from < text.length; from += SLICE) {
      total += countTokens(text.slice(from, from + SLICE));
      if (text.length > SLICE) await turn();
    }
  return total;
};

/** What an event says of the tokens of its message, so that nobody counts them again. */
export const recordedTokens = async (parts: readonly MessagePart[]): Promise<{ readonly tokens?: number }> => {
  const texts = parts.map(wordsOf);
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  return length > MOST_RECORDED ? {} : { tokens: await tokensOfTexts(texts) };
};

/** A message of a branch as it was said: parts that a model is shown. */
export class SaidMessage {
  /** Tokens of its words at most: no vocabulary has more than one for a byte. */
  readonly most: number;
  /** Tokens that its images take, about, of a model that sees them. */
  readonly imageTokens: number;

  constructor(
    readonly messageId: string,
    readonly role: 'user' | 'assistant',
    /** Its parts from `from` on. */
    readonly parts: readonly MessagePart[],
    /** The index of its first part, and the characters of that which are left out. */
    readonly from: Pick<Boundary, 'part' | 'offset'> = { part: 0, offset: 0 },
    /** Its tokens, where they were recorded with it. */
    private counted?: number,
  ) {
    this.most = parts.map(wordsOf).reduce((sum, text) => sum + mostTokens(text), OF_MESSAGE);
    this.imageTokens = imageTokensIn(parts);
  }

  /** Its tokens, about: recorded with it, or counted once on demand. */
  async tokens(): Promise<number> {
    return (this.counted ??= await tokensOfTexts(this.parts.map(wordsOf)));
  }

  get isEmpty(): boolean {
    return this.parts.every((part) => wordsOf(part) === '');
  }

  /** The part of it after a place. */
  after({ part, offset }: Pick<Boundary, 'part' | 'offset'>): SaidMessage {
    if (part === this.from.part && offset === this.from.offset) return this;
    const kept = this.parts.slice(part - this.from.part).map((each, index) => {
      const cut = offset - (part === this.from.part ? this.from.offset : 0);
      return index === 0 && each.type === 'text' ? { ...each, text: each.text.slice(cut) } : each;
    });
    return new SaidMessage(this.messageId, this.role, kept, { part, offset });
  }

  /** The part of it before a place. */
  before({ part, offset }: Pick<Boundary, 'part' | 'offset'>): SaidMessage {
    const whole = this.parts.slice(0, part - this.from.part);
    const cut = this.parts[part - this.from.part];
    const begun = offset - (part === this.from.part ? this.from.offset : 0);
    const last = cut?.type === 'text' && begun > 0 ? [{ ...cut, text: cut.text.slice(0, begun) }] : [];
    return new SaidMessage(this.messageId, this.role, [...whole, ...last], this.from);
  }

  /** As models are shown it. */
  get shown(): readonly ChatMessage[] {
    return this.shownWith(undefined);
  }

  /** As a model is shown it that sees images. */
  shownWith(images: SeenImages | undefined, skills?: SkillTexts): readonly ChatMessage[] {
    return shownParts(this.role, this.parts, images, skills);
  }
}

/** Tokens that the images among some parts take, about, of a model that sees them. */
export const imageTokensIn = (parts: readonly MessagePart[]): number =>
  parts.reduce(
    (sum, part) => (part.type === 'file' && isImage(part.mediaType) ? sum + imageTokens(part.size) : sum),
    0,
  );
