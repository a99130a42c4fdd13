import type { Place } from '@app/kernel';
import { type Block, type Extraction, fail } from './extraction';

/** More characters than any document may have passages of. */
const MAX_CHARACTERS = 32 * 1024 ** 2;
const MAX_BLOCKS = 2_000_000;

const LIGATURES = /[\ufb00-\ufb06\ufb13-\ufb17]/g;
// What shows nothing: soft hyphens, zero-width spaces and marks, NUL and other controls.
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff\ufffe\uffff]|(?!\s)\p{Cc}/gu;
const LONE_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text as it is searched: composed letters, ligatures spelt out, nothing that is not seen. */
export const cleanText = (text: string): string =>
  text
    .replace(LIGATURES, (ligature) => ligature.normalize('NFKC'))
    .replace(INVISIBLE, '')
    .replace(LONE_SURROGATES, '\ufffd')
    .normalize('NFC');

/** A text on one line. */
export const oneLine = (text: string): string => cleanText(text).replace(/\s+/g, ' ').trim();

/** Builds an extraction block by block. Throws `ExtractionFailure` `too_many_passages` where it grows too long. */
export class TextBuilder {
  private readonly parts: string[] = [];
  private readonly blocks: Block[] = [];
  private length = 0;

  constructor(private place?: Place) {}

  /** Where all that is added from now on stands. */
  at(place: Place | undefined): void {
    this.place = place;
  }

  /** A heading, level 1 to 6. An empty one ends those above it of its level. */
  heading(level: number, text: string): void {
    const title = oneLine(text);
    const within = { level: Math.min(Math.max(level, 1), 6), title };
    if (title === '') this.block({ kind: 'heading', start: this.length, end: this.length, ...within });
    else this.add('heading', title, within);
  }

  /** A paragraph, whose lines are joined. */
  prose(text: string): void {
    const line = oneLine(text);
    if (line !== '') this.add('prose', line);
  }

  /** Lines that stay as they are: code, rows, verses. */
  lines(text: string): void {
    const cleaned = cleanText(text.replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n'));
    const kept = cleaned.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
    if (kept.trim() !== '') this.add('lines', kept);
  }

  /** Another extraction, behind what is there. What has a place in it keeps that. */
  include({ text, blocks }: Extraction, below: number): void {
    const here = this.place;
    for (const { kind, start, end, level = 1, title = '', place = here } of blocks) {
      this.at(place);
      if (kind === 'heading') this.heading(Math.min(level + below, 6), title);
      else this[kind](text.slice(start, end));
    }
    this.at(here);
  }

  /** What another builder has, as it is. */
  take({ parts, blocks }: TextBuilder): void {
    this.include({ text: parts.join(''), blocks }, 0);
  }

  /** Characters so far. */
  get size(): number {
    return this.length;
  }

  get isEmpty(): boolean {
    return this.blocks.every(({ kind }) => kind === 'heading');
  }

  /** Throws `ExtractionFailure` `no_text` where there is nothing. What has headings alone shows them as text. */
  build(): Extraction {
    if (this.isEmpty) for (const { title = '' } of this.blocks.slice(0, 1_000)) this.prose(title);
    if (this.isEmpty) fail('no_text');
    return { text: this.parts.join(''), blocks: this.blocks };
  }

  private add(kind: Block['kind'], text: string, more: Partial<Block> = {}): void {
    const between = this.length === 0 ? '' : '\n\n';
    const start = this.length + between.length;
    this.length = start + text.length;
    if (this.length > MAX_CHARACTERS) fail('too_many_passages');
    this.parts.push(between, text);
    this.block({ kind, start, end: this.length, ...more });
  }

  private block(block: Block): void {
    if (this.blocks.length >= MAX_BLOCKS) fail('too_many_passages');
    this.blocks.push(this.place === undefined ? block : { ...block, place: this.place });
  }
}
