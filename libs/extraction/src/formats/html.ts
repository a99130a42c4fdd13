import { Parser } from 'htmlparser2';
import { decodeText } from '../encodings';
import { type Extraction, fail, type SourceFile } from '../extraction';
import { Formula } from '../formulas';
import { raised } from '../raised';
import { TextBuilder } from '../text-builder';
import { HtmlTable, writeBlock, type Written } from './html-table';
import { charsetOf } from './plain';

/** What is shown by no browser, and what is no text. */
const SKIPPED = new Set(
  'script style template noscript svg iframe object embed canvas audio video select datalist annotation annotation-xml'.split(
    ' ',
  ),
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

/**
 * The text of a page: headings, paragraphs, lists, rows of tables with their headers, preformatted lines. Its navigation is passed
 * over, unless the page has nothing else. Nothing is loaded or run.
 */
export const extractHtml = ({ body, mimeType }: SourceFile): Extraction => {
  const html = decodeText(body, 'malformed', charsetOf(mimeType) ?? pageCharset(body));
  const builder = new TextBuilder();
  writeHtml(builder, html);
  return builder.build();
};

/** Writes what an HTML text shows. */
export const writeHtml = (builder: TextBuilder, html: string): void => {
  const read = (withNavigation: boolean): boolean => {
    const page = new Page(builder, withNavigation);
    new Parser(page, { decodeEntities: true, lowerCaseTags: true }).end(html);
    return page.hasText;
  };
  if (!read(false)) read(true);
};

/** Bytes in which a page says its charset; browsers look as far as they read. */
const HEAD_BYTES = 16 * 1024;

/** The charset that a page says of itself: as XML, or in its head. */
export const pageCharset = (body: Buffer): string | undefined => {
  const head = body.subarray(0, HEAD_BYTES).toString('latin1');
  return (/^\s{0,9}<\?xml[^>]{1,100}encoding\s?=\s?["']([\w.-]{1,40})["']/.exec(head) ??
    /<meta[^>]{0,200}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(head))?.[1];
};

/** Where a page leads, and what asks for consent before it: the same on each page of a site. */
const isNavigation = (name: string, { role = '', id = '', class: classes = '' }: Names): boolean =>
  name === 'nav' ||
  /^(?:navigation|dialog|alertdialog)$/i.test(role) ||
  /(?:cookie|consent)[-_]?(?:banner|notice|bar|popup|overlay)|onetrust-|cookiebot/i.test(`${id} ${classes}`);

const isHidden = (name: string, { hidden, style = '', open }: Names): boolean =>
  (hidden !== undefined && hidden !== 'until-found') ||
  (name === 'dialog' && open === undefined) ||
  /(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)/i.test(style);

type Names = Readonly<Record<string, string>>;

class Page {
  hasText = false;
  private depth = 0;
  /** Depth of the outermost element that is passed over; 0: none. */
  private skips = 0;
  private text = '';
  private pre = 0;
  private isTitle = false;
  private heading = 0;
  private isListItem = false;
  /** Those that are open; tables nest. */
  private readonly tables: HtmlTable[] = [];
  /** Where what is raised or lowered begins. */
  private readonly raising: number[] = [];
  private formula: Formula | undefined;

  constructor(
    private readonly builder: TextBuilder,
    private readonly withNavigation: boolean,
  ) {}

  onopentag(name: string, attributes: Names): void {
    if (EMPTY.has(name)) return this.void(name, attributes);
    this.depth += 1;
    if (this.depth > MAX_DEPTH) fail('malformed');
    if (this.skips > 0) return;
    if (name === 'title' && this.tables.length === 0 && !this.withNavigation) this.isTitle = true;
    if (this.isPassedOver(name, attributes)) {
      this.skips = this.depth;
      return;
    }
    if (isBlock(name)) this.flush();
    if (name === 'math') this.formula = new Formula();
    this.text = this.formula?.open(name, {}, this.text) ?? this.text;
    if (name === 'pre') this.pre += 1;
    else if (name === 'li') this.isListItem = true;
    else if (name === 'table') this.tables.push(new HtmlTable(attributes));
    else if (name === 'sup' || name === 'sub') this.raising.push(this.text.length);
    else if (/^h[1-6]$/.test(name)) this.heading = Number(name[1]);
    else this.tables.at(-1)?.open(name, attributes);
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
    this.text = this.formula?.close(this.text) ?? this.text;
    if (name === 'math') this.formula = undefined;
    if (name === 'sup' || name === 'sub') this.raise(name);
    if (isBlock(name)) this.flush();
    if (name === 'table') for (const written of this.tables.pop()?.written() ?? []) this.write(written);
    else this.tables.at(-1)?.close(name);
    if (name === 'pre') this.pre -= 1;
  }

  onend(): void {
    this.flush();
    while (this.tables.length > 0) this.onclosetag('table');
  }

  private isPassedOver(name: string, attributes: Names): boolean {
    if (name === 'html' || name === 'body') return false;
    return (
      SKIPPED.has(name) ||
      name === 'title' ||
      isHidden(name, attributes) ||
      (!this.withNavigation && isNavigation(name, attributes))
    );
  }

  private void(name: string, { alt = '' }: Names): void {
    if (this.skips > 0) return;
    if (name === 'br') this.text += '\n';
    else if (name === 'hr') this.flush();
    else if (name === 'img' && alt !== '') this.text += ` ${alt} `;
  }

  private raise(name: 'sup' | 'sub'): void {
    const start = this.raising.pop() ?? this.text.length;
    this.text = this.text.slice(0, start) + raised(this.text.slice(start), name === 'sup' ? 'above' : 'below');
  }

  /** Writes what was gathered as the block that it is of. */
  private flush(): void {
    const { text, heading, isListItem } = this;
    this.text = '';
    this.heading = 0;
    if (text.trim() === '') return;
    this.isListItem = false;
    const kind = heading > 0 ? 'heading' : this.pre > 0 ? 'lines' : 'prose';
    this.write({ kind, text, level: heading, isListItem });
  }

  private write(written: Written): void {
    const table = this.tables.findLast(({ isInCell }) => isInCell);
    if (table !== undefined) return table.write(written);
    this.hasText = true;
    writeBlock(this.builder, written);
  }
}

const isBlock = (name: string): boolean => BLOCKS.has(name) || name === 'pre' || /^h[1-6]$/.test(name);
