import type { CopiedText, RequestTemplate } from '../conversation/provenance.schema';
import { lineOf } from './skill-catalogue';
import type { PlacedText, ShownSkills } from './turn-skills';

type Reference = Exclude<RequestTemplate[number], string>;
type Piece = string | { readonly at: Reference; readonly text: string };

/**
 * Parts of a request that are stored elsewhere, in the order of the request: pieces of JSON, and texts with their
 * places.
 */
export interface HeldText {
  readonly pieces: readonly Piece[];
  /** Wherever it is found; else where it is found first. */
  readonly isEverywhere?: true;
}

/** A text as it is written in JSON. */
export const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** What a model is shown of memories. */
export const heldMemories = (lines: readonly { readonly memoryId: string; readonly line: string }[]) =>
  lines.map(({ memoryId, line }): HeldText => ({ pieces: [{ at: { memoryId }, text: line }] }));

/** The document texts in a request, with their stored copies; undefined if one is missing. */
export const heldSources = (
  texts: readonly { readonly text: string }[],
  copies: readonly (CopiedText | undefined)[],
): readonly HeldText[] | undefined => {
  const held = texts.flatMap(({ text }, index): readonly HeldText[] => {
    const at = copies[index];
    // Also where a tool repeats it: what a document says is kept nowhere else.
    return at === undefined ? [] : [{ pieces: [{ at, text }], isEverywhere: true }];
  });
  return held.length === texts.length ? held : undefined;
};

/** The Skill texts in a request: the catalogue, the names for `load_skill`, and the loaded and read texts. */
export const heldSkills = ({ catalogue, skills, loaded, read }: ShownSkills): readonly HeldText[] => {
  if (skills.length === 0) return [];
  const name = ({ skillId, versionId, slug }: (typeof skills)[number]): Piece => ({
    at: { skillId, versionId, of: 'name' },
    text: slug,
  });
  const [introduction = '', ...lines] = catalogue.split('\n');
  const listed = lines.flatMap((line, index): Piece[] => {
    const skill = skills[index] as (typeof skills)[number];
    const { skillId, versionId } = skill;
    const isDescribed = line === lineOf(skill);
    return isDescribed ? ['\\n', { at: { skillId, versionId, of: 'line' }, text: line }] : ['\\n- ', name(skill)];
  });
  const names = skills.flatMap((skill, index): Piece[] => [index === 0 ? '"enum":["' : '","', name(skill)]);
  const placed = ({ place, text }: PlacedText): Piece => ({ at: place, text });
  return [
    { pieces: [inJson(introduction), ...listed] },
    { pieces: [...names, '"]'] },
    ...loaded.map((each): HeldText => ({ pieces: [placed(each)], isEverywhere: true })),
    // As a whole text: a short one may stand within others.
    ...read.map((each): HeldText => ({ pieces: ['"', placed(each), '"'], isEverywhere: true })),
  ];
};

/** Placeholder for the next held text: JSON writes this character differently, so no other text contains it. */
const MARK = '\u0000';
/** Most places of one text in a request: a text with more places is a word of the format. */
const MOST_PLACES = 100;

/**
 * Takes held texts out of a request; undefined if one is not found. `fill` restores the places in a piece of the rest.
 */
export const withoutHeld = (sent: string, held: readonly HeldText[]) => {
  const found = held.map((each) => placesIn(sent, each));
  if (found.some((places) => places.length === 0 || places.length > MOST_PLACES)) return undefined;
  const cuts = found.flat().toSorted((one, other) => one.from - other.from);
  let [body, end] = ['', 0];
  const places: Reference[] = [];
  for (const { from, to, at } of cuts) {
    // Of two texts that are equal, or within one another, the first stands for both.
    if (from < end) continue;
    body += sent.slice(end, from) + MARK;
    places.push(at);
    end = to;
  }
  body += sent.slice(end);
  const next = places.values();
  const fill = (text: string): readonly (string | Reference)[] =>
    text.split(MARK).flatMap((piece, index) => (index === 0 ? [piece] : [next.next().value as Reference, piece]));
  return { body, fill };
};

const placesIn = (sent: string, { pieces, isEverywhere }: HeldText) => {
  const written = pieces.map((piece) => (typeof piece === 'string' ? piece : inJson(piece.text)));
  const whole = written.join('');
  const places: { readonly from: number; readonly to: number; readonly at: Reference }[] = [];
  for (let start = sent.indexOf(whole); start >= 0; start = sent.indexOf(whole, start + whole.length)) {
    let from = start;
    for (const [index, piece] of pieces.entries()) {
      const to = from + (written[index] as string).length;
      if (typeof piece !== 'string') places.push({ from, to, at: piece.at });
      from = to;
    }
    if (isEverywhere !== true || places.length > MOST_PLACES) break;
  }
  return places;
};
