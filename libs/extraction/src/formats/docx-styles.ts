import type { Archive } from '../archive';
import { readXml } from '../xml';

/** What a style says of paragraphs and of runs. */
export interface Style {
  /** Of a heading, from 1. */
  readonly level?: number;
  readonly isHidden?: boolean;
  readonly numberId?: string;
  readonly numberLevel?: number;
}

type Open = { -readonly [Key in keyof Style]: Style[Key] } & { basedOn?: string };

/** Longest chain of styles that are based on each other; it may be a circle. */
const MAX_BASES = 20;

/** The styles of a document by their ids, which are called as the language of the author has it: `Heading1`, `berschrift1`. */
export const stylesOf = async (archive: Archive, part: string | undefined): Promise<ReadonlyMap<string, Style>> => {
  const own = new Map<string, Open>();
  let style: Open = {};
  if (part !== undefined)
    await readXml(archive, part, {
      open: (name, { styleId, val = '' }) => {
        if (name === 'style') own.set(styleId ?? '', (style = {}));
        else if (name === 'basedOn') style.basedOn = val;
        else if (name === 'outlineLvl' && Number(val) < 9) style.level = Number(val) + 1;
        else if (name === 'vanish') style.isHidden = isOn(val);
        else if (name === 'numId') style.numberId = val;
        else if (name === 'ilvl') style.numberLevel = Number(val);
        else if (name === 'name') {
          const level = /^heading (\d)$/i.exec(val)?.[1] ?? (/^title$/i.test(val) ? '1' : undefined);
          if (level !== undefined) style.level = Number(level);
        }
      },
    });
  return new Map([...own.keys()].map((id) => [id, inherited(id, own)]));
};

/** A switch of Word: on where it says nothing. */
export const isOn = (val = ''): boolean => !/^(?:0|false|off)$/.test(val);

const inherited = (id: string, own: ReadonlyMap<string, Open>): Style => {
  let all: Open = {};
  let at: string | undefined = id;
  for (let steps = 0; at !== undefined && steps < MAX_BASES; steps += 1) {
    const style: Open = own.get(at) ?? {};
    all = { ...style, ...all };
    at = style.basedOn;
  }
  return all;
};
