import type { Archive } from '../archive';
import { readXml } from '../xml';

interface Level {
  start: number;
  format: string;
  text: string;
  /** The style of the paragraphs that it numbers. */
  style?: string;
}

/** Levels of a list by their number, from 0. */
type Levels = ReadonlyMap<number, Level>;

const LEVELS = 9;
/** Of larger numbers the digits do, as letters and Roman numbers grow long. */
const MAX_LETTERS = 3_999;

/** How the lists of a document count: what stands before its paragraphs is in none of their texts. */
export class Numbering {
  /** Counters by list; lists that have the same definition go on from each other. */
  private readonly counters = new Map<string, number[]>();

  constructor(
    private readonly definitions: ReadonlyMap<string, Levels>,
    private readonly lists: ReadonlyMap<
      string,
      { readonly definition: string; readonly starts: ReadonlyMap<number, number> }
    >,
  ) {}

  /**
   * What stands before the next paragraph of a list: `2.1`, `§ 4`, `a)`, or `-` where it has a sign. Empty where it has neither,
   * undefined where the list is not there.
   */
  next(list: string, level: number | undefined, style: string): string | undefined {
    const found = this.lists.get(list);
    const levels = found && this.definitions.get(found.definition);
    if (found === undefined || levels === undefined) return undefined;
    const at = level ?? [...levels].find(([, each]) => each.style === style)?.[0] ?? 0;
    const own = levels.get(at);
    if (own === undefined) return undefined;
    if (own.format === 'bullet') return '-';
    const counters = this.countersOf(list, found.definition);
    const start = (each: number): number => found.starts.get(each) ?? levels.get(each)?.start ?? 1;
    counters[at] = (counters[at] ?? start(at) - 1) + 1;
    for (let above = 0; above < at; above += 1) counters[above] ??= start(above);
    counters.length = at + 1;
    return own.text
      .replace(/%([1-9])/g, (_, digit: string) => {
        const each = Number(digit) - 1;
        return numberText(counters[each] ?? start(each), levels.get(each)?.format ?? 'decimal');
      })
      .trim();
  }

  private countersOf(list: string, definition: string): number[] {
    const starts = this.lists.get(list)?.starts.size ?? 0;
    // A list that says where it starts counts for itself.
    const key = starts > 0 ? `list ${list}` : definition;
    const known = this.counters.get(key) ?? [];
    this.counters.set(key, known);
    return known;
  }
}

/** Reads the definitions of lists. */
export const numberingOf = async (archive: Archive, part: string | undefined): Promise<Numbering> => {
  const definitions = new Map<string, Map<number, Level>>();
  const lists = new Map<string, { definition: string; starts: Map<number, number> }>();
  let levels = new Map<number, Level>();
  let level: Level | undefined;
  let list = { definition: '', starts: new Map<number, number>() };
  let overridden = 0;
  if (part !== undefined)
    await readXml(archive, part, {
      open: (name, { abstractNumId = '', numId = '', ilvl = '', val = '' }) => {
        if (name === 'abstractNum') definitions.set(abstractNumId, (levels = new Map()));
        else if (name === 'lvl' && Number(ilvl) < LEVELS)
          levels.set(Number(ilvl), (level = { start: 1, format: 'decimal', text: '' }));
        else if (name === 'num') {
          // What is said of levels from here on is not of a definition.
          levels = new Map();
          lists.set(numId, (list = { definition: '', starts: new Map() }));
        } else if (name === 'abstractNumId') list.definition = val;
        else if (name === 'lvlOverride') overridden = Number(ilvl);
        else if (name === 'startOverride') list.starts.set(overridden, numberOf(val));
        else if (level !== undefined) {
          if (name === 'start') level.start = numberOf(val);
          else if (name === 'numFmt') level.format = val;
          else if (name === 'lvlText') level.text = val.slice(0, 50);
          else if (name === 'pStyle') level.style = val;
        }
      },
      close: (name) => {
        if (name === 'lvl') level = undefined;
      },
    });
  return new Numbering(definitions, lists);
};

const numberOf = (val: string): number => (/^\d{1,6}$/.test(val) ? Number(val) : 1);

const numberText = (number: number, format: string): string => {
  if (format === 'none') return '';
  if (format === 'decimalZero') return String(number).padStart(2, '0');
  if (number < 1 || number > MAX_LETTERS) return String(number);
  if (format === 'lowerLetter') return letters(number);
  if (format === 'upperLetter') return letters(number).toUpperCase();
  if (format === 'lowerRoman') return roman(number);
  return format === 'upperRoman' ? roman(number).toUpperCase() : String(number);
};

/** a, b, ... z, aa, bb. */
const letters = (number: number): string =>
  String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.min(Math.ceil(number / 26), 10));

const ROMAN: readonly (readonly [number, string])[] = [
  [1_000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
];

const roman = (number: number): string => {
  let rest = number;
  let written = '';
  for (const [value, sign] of ROMAN)
    while (rest >= value) {
      written += sign;
      rest -= value;
    }
  return written;
};
