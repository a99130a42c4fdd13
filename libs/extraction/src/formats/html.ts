import { Parser } from 'htmlparser2';
import { decodeText } from '../encodings';
import { type Extraction, fail, type SourceFile } from '../extraction';
import { rowSentence } from '../table';
import { oneLine, TextBuilder } from '../text-builder';
import { charsetOf } from './plain';

/** What is shown by no browser, and what is no text. */
const SKIPPED = new Set(
  'script style template noscript svg math iframe object embed canvas audio video select datalist'.split(' '),
);
/** Elements that begin and end a paragraph. */
const BLOCKS = new Set(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form header hgroup hr html legend li main menu nav ol p section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);
const EMPTY = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));
/** Pages nest less than a hundred deep; unclosed tags a few thousand. */
const MAX_DEPTH = 5_000;

/** The text of a page: headings, paragraphs, lists, rows of tables with their headers, preformatted lines. Nothing is loaded or run. */
export const extractHtml = ({ body, mimeType }: SourceFile): Extraction => {
  const builder = new TextBuilder();
  writeHtml(builder, decodeText(body, 'malformed', charsetOf(mimeType) ?? metaCharset(body)));
  return builder.build();
};

/** Writes what an HTML text shows. */
export const writeHtml = (builder: TextBuilder, html: string): void => {
  const page = new Page(builder);
  const parser = new Parser(page, { decodeEntities: true, lowerCaseTags: true });
  parser.end(html);
};

/** The charset that a page says of itself. */
const metaCharset = (body: Buffer): string | undefined =>
  /<meta[^>]{0,200}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(body.subarray(0, 2_048).toString('latin1'))?.[1];

interface Cell {
  readonly text: string;
  readonly isHeader: boolean;
}

class Page {
  private depth = 0;
  /** Depth of the outermost element that is passed over; 0: none. */
  private skips = 0;
  private text = '';
  private pre = 0;
  private isTitle = false;
  private heading = 0;
  private isListItem = false;
  /** Rows that are open, with the cells so far; tables nest. */
  private readonly rows: Cell[][] = [];
  private readonly headers: (readonly Cell[])[] = [];

  constructor(private readonly builder: TextBuilder) {}

  onopentag(name: string, attributes: Readonly<Record<string, string>>): void {
    if (EMPTY.has(name)) return this.void(name, attributes);
    this.depth += 1;
    if (this.depth > MAX_DEPTH) fail('malformed');
    if (this.skips > 0) return;
    if (name === 'title' && this.rows.length === 0) this.isTitle = true;
    if ((SKIPPED.has(name) || isHidden(attributes)) && name !== 'html' && name !== 'body') {
      this.skips = this.depth;
      return;
    }
    if (BLOCKS.has(name) || name === 'pre' || /^h[1-6]$/.test(name)) this.flush();
    if (name === 'pre') this.pre += 1;
    else if (name === 'li') this.isListItem = true;
    else if (name === 'table') this.headers.push([]);
    else if (name === 'tr') this.rows.push([]);
    else if (/^h[1-6]$/.test(name)) this.heading = Number(name[1]);
  }

  ontext(text: string): void {
    if (this.isTitle) this.text += text;
    else if (this.skips === 0) this.text += this.pre > 0 ? text : text.replace(/\s+/g, ' ');
  }

  onclosetag(name: string): void {
    if (EMPTY.has(name)) return;
    if (name === 'title' && this.isTitle) {
      this.builder.prose(this.text);
      this.text = '';
      this.isTitle = false;
    }
    if (this.skips > 0) {
      if (this.depth === this.skips) this.skips = 0;
      this.depth -= 1;
      return;
    }
    this.depth -= 1;
    if (name === 'td' || name === 'th') this.cell(name === 'th');
    else if (name === 'tr') this.row();
    else if (name === 'table') {
      this.flush();
      this.headers.pop();
    } else if (BLOCKS.has(name) || name === 'pre' || /^h[1-6]$/.test(name)) this.flush();
    if (name === 'pre') this.pre -= 1;
  }

  onend(): void {
    this.flush();
  }

  private void(name: string, { alt = '' }: Readonly<Record<string, string>>): void {
    if (this.skips > 0) return;
    if (name === 'br') this.text += '\n';
    else if (name === 'hr') this.flush();
    else if (name === 'img' && alt !== '') this.text += ` ${alt} `;
  }

  /** Writes what was gathered as the block that it is of; in a row, it stays for the cell. */
  private flush(): void {
    if (this.rows.length > 0) {
      this.text += ' ';
      this.heading = 0;
      this.isListItem = false;
      return;
    }
    const { text } = this;
    this.text = '';
    if (this.heading > 0) this.builder.heading(this.heading, text);
    else if (this.pre > 0) this.builder.lines(text);
    else if (this.isListItem && text.trim() !== '') this.builder.prose(`- ${text}`);
    else this.builder.prose(text);
    this.heading = 0;
    if (text.trim() !== '') this.isListItem = false;
  }

  private cell(isHeader: boolean): void {
    this.rows.at(-1)?.push({ text: oneLine(this.text), isHeader });
    this.text = '';
  }

  private row(): void {
    const cells = this.rows.pop() ?? [];
    const line = this.isHeader(cells) ? '' : rowSentence(textsOf(cells), textsOf(this.headers.at(-1) ?? []));
    if (this.isHeader(cells)) this.headers[this.headers.length - 1] = cells;
    // A table in a cell is part of its row.
    if (this.rows.length > 0) this.text += ` ${line} `;
    else {
      this.text = '';
      this.builder.lines(line);
    }
  }

  private isHeader(cells: readonly Cell[]): boolean {
    return cells.length > 1 && cells.every(({ isHeader }) => isHeader) && this.headers.length > 0;
  }
}

const isHidden = ({ hidden, style = '' }: Readonly<Record<string, string>>): boolean =>
  hidden !== undefined || /(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)/i.test(style);

const textsOf = (cells: readonly Cell[]): readonly string[] => cells.map(({ text }) => text);
