import { knownEncoding } from '../encodings';
import { type Extraction, fail, type SourceFile } from '../extraction';
import { raised } from '../raised';
import { rowSentence } from '../table-names';
import { TextBuilder } from '../text-builder';

/** Word nests a dozen deep. */
const MAX_DEPTH = 500;
/** Destinations that hold no text of the document. */
const SKIPPED = new Set(
  'fonttbl colortbl stylesheet info pict object objdata header headerl headerr headerf footer footerl footerr footerf fldinst listtable listoverridetable revtbl rsidtbl generator themedata colorschememapping datastore latentstyles xmlnstbl filetbl bkmkstart bkmkend nonshppict template comment author annotation atnid atnauthor'.split(
    ' ',
  ),
);
const CHARACTERS: Readonly<Record<string, string>> = {
  tab: '\t',
  line: '\n',
  emdash: '\u2014',
  endash: '\u2013',
  emspace: ' ',
  enspace: ' ',
  lquote: '\u2018',
  rquote: '\u2019',
  ldblquote: '\u201c',
  rdblquote: '\u201d',
  bullet: '\u2022',
};
/** Character sets of fonts, as code pages. */
const CHARSETS: Readonly<Record<number, number>> = {
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

// A control word, a control symbol, a byte in hex, a brace, or a run of text.
const TOKEN = /\\'([\da-fA-F]{2})|\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\/y;

/** Formats of characters that begin and end, and whether they hide. */
const HIDING = new Set(['v', 'deleted']);

interface Group {
  skips: boolean;
  /** Characters that stand for one of `\u` where it is not known. */
  fallback: number;
  font: number;
  isFontTable: boolean;
  isStyles: boolean;
  /** Hidden, or deleted while changes were recorded. */
  isHidden: boolean;
  align: 'above' | 'below' | undefined;
}

/** A document in Rich Text Format: paragraphs, headings by their outline level, rows of tables. Pictures and objects are passed over. */
export const extractRtf = ({ body }: SourceFile): Extraction => {
  const reader = new RtfReader();
  reader.read(body.toString('latin1'));
  return reader.builder.build();
};

const PLAIN: Group = {
  skips: false,
  fallback: 1,
  font: -1,
  isFontTable: false,
  isStyles: false,
  isHidden: false,
  align: undefined,
};

class RtfReader {
  readonly builder = new TextBuilder();
  private readonly groups: Group[] = [];
  private group: Group = { ...PLAIN };
  private readonly fonts = new Map<number, number>();
  /** Outline levels of styles, and the style that is described. */
  private readonly levels = new Map<number, number>();
  private style = 0;
  private codePage = 1252;
  private text = '';
  private bytes: number[] = [];
  private bytesFont = -1;
  /** Fallback characters still to pass over. */
  private passes = 0;
  private outline = -1;
  private row: string[] | undefined;
  /** Of each cell of a row, whether it goes on from the row above. */
  private continued: boolean[] = [];
  private isContinued = false;
  private above: readonly string[] = [];

  read(source: string): void {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < source.length) {
      const match = TOKEN.exec(source);
      if (match === null) break;
      const [, hex, word, number, symbol, brace, run] = match;
      if (hex !== undefined) this.byte(Number.parseInt(hex, 16));
      else if (word !== undefined) this.word(word, number === undefined ? undefined : Number(number));
      else if (symbol !== undefined) this.symbol(symbol);
      else if (brace !== undefined) this.brace(brace);
      else if (run !== undefined) for (let index = 0; index < run.length; index += 1) this.byte(run.charCodeAt(index));
      // Binary data follows as it is.
      if (word === 'bin') TOKEN.lastIndex += Math.max(0, Number(number ?? 0));
    }
    this.paragraph();
  }

  private brace(brace: string): void {
    this.flush();
    this.passes = 0;
    if (brace === '{') {
      if (this.groups.length >= MAX_DEPTH) fail('malformed');
      this.groups.push(this.group);
      this.group = { ...this.group };
    } else this.group = this.groups.pop() ?? this.group;
  }

  private symbol(symbol: string): void {
    if (symbol === '*') this.group.skips = true;
    else if (symbol === '~') this.say(' ');
    else if (symbol === '_') this.say('-');
    else if (symbol === '\\' || symbol === '{' || symbol === '}') this.say(symbol);
    else if (symbol === '\n' || symbol === '\r') this.paragraph();
  }

  private word(word: string, value: number | undefined): void {
    if (word === 'fonttbl') this.group.isFontTable = true;
    if (SKIPPED.has(word)) this.group.skips = true;
    // A text box, within a shape that is passed over otherwise.
    else if (word === 'shptxt') this.group.skips = false;
    if (word === 'stylesheet') this.group.isStyles = true;
    if (this.group.isStyles) this.describe(word, value ?? 0);
    else if (word === 'ansicpg' && value !== undefined) this.codePage = value;
    else if (word === 'uc') this.group.fallback = Math.min(Math.max(value ?? 1, 0), 16);
    else if (word === 'f') this.font(value ?? 0);
    else if (word === 'fcharset' && this.group.isFontTable) this.fonts.set(this.group.font, CHARSETS[value ?? 0] ?? 0);
    else if (!this.group.skips && !this.formatting(word, value)) this.textual(word, value);
  }

  private describe(word: string, value: number): void {
    if (word === 's') this.style = value;
    else if (word === 'outlinelevel') this.levels.set(this.style, value);
  }

  private formatting(word: string, value: number | undefined): boolean {
    const { group } = this;
    if (HIDING.has(word)) this.flush(() => (group.isHidden = value !== 0));
    else if (word === 'plain') this.flush(() => Object.assign(group, { isHidden: false, align: undefined }));
    else if (word === 'super' || word === 'sub')
      this.flush(() => (group.align = value === 0 ? undefined : word === 'super' ? 'above' : 'below'));
    else if (word === 'nosupersub') this.flush(() => (group.align = undefined));
    else if (word === 'trowd') this.continued = [];
    else if (word === 'clvmrg') this.isContinued = true;
    else if (word === 'cellx') {
      this.continued.push(this.isContinued);
      this.isContinued = false;
    } else return false;
    return true;
  }

  private textual(word: string, value: number | undefined): void {
    if (word === 'u' && value !== undefined) {
      this.say(String.fromCharCode(value & 0xffff));
      this.passes = this.group.fallback;
    } else if (word === 'par' || word === 'sect' || word === 'page') this.paragraph();
    else if (word === 'pard') this.outline = -1;
    else if (word === 'outlinelevel') this.outline = value ?? -1;
    else if (word === 's') this.outline = this.levels.get(value ?? 0) ?? this.outline;
    else if (word === 'cell') this.cell();
    else if (word === 'row') this.endRow();
    else if (Object.hasOwn(CHARACTERS, word)) this.say(CHARACTERS[word] as string);
  }

  private font(number: number): void {
    this.flush();
    this.group.font = number;
  }

  private byte(byte: number): void {
    if (this.group.skips || this.group.isHidden) return;
    if (this.passes > 0) {
      this.passes -= 1;
      return;
    }
    if (this.bytesFont !== this.group.font) this.flush();
    this.bytesFont = this.group.font;
    this.bytes.push(byte);
  }

  private say(text: string): void {
    this.flush();
    if (!this.group.skips && !this.group.isHidden) this.write(text);
  }

  /** Writes what was gathered, before the format changes. */
  private flush(change?: () => unknown): void {
    if (this.bytes.length > 0) {
      const page = this.fonts.get(this.bytesFont) || this.codePage;
      this.write(new TextDecoder(encodingOf(page)).decode(Uint8Array.from(this.bytes)));
      this.bytes = [];
    }
    change?.();
  }

  private write(text: string): void {
    const { align } = this.group;
    this.text += align === undefined ? text : raised(text, align);
  }

  private paragraph(): void {
    this.flush();
    // In a row, paragraphs are of a cell.
    if (this.row !== undefined && this.row.length > 0) {
      this.text += ' ';
      return;
    }
    const { text, outline } = this;
    this.text = '';
    if (outline >= 0 && outline < 9 && text.trim() !== '') this.builder.heading(outline + 1, text);
    else this.builder.prose(text);
  }

  private cell(): void {
    this.flush();
    (this.row ??= []).push(this.text.replace(/\s+/g, ' ').trim());
    this.text = '';
  }

  private endRow(): void {
    this.flush();
    const row = (this.row ?? []).map((cell, column) =>
      cell === '' && this.continued[column] === true ? (this.above[column] ?? '') : cell,
    );
    this.builder.lines(rowSentence(row, []));
    this.above = row;
    this.row = undefined;
  }
}

/** The names of code pages that Windows counts; the one of Western Europe for those that are not known. */
const encodingOf = (page: number): string => {
  const named: Readonly<Record<number, string>> = {
    932: 'shift_jis',
    936: 'gb18030',
    949: 'euc-kr',
    950: 'big5',
    65001: 'utf-8',
    10000: 'macintosh',
  };
  return knownEncoding(named[page] ?? `windows-${page}`) ?? 'windows-1252';
};
