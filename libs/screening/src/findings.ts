import { setImmediate } from 'node:timers/promises';
import { screen } from './screen';
import { type Suspect, suspectsIn } from './suspects';

/** Where screening found something in a text. */
export interface Finding {
  /** The rule that found it, as `obey.override`. */
  readonly rule: string;
  /** From 1. */
  readonly line: number;
}

/** What looks for findings. */
export interface Finder {
  (text: string): readonly Finding[];
  /** Of a text of any length: others go on beside it. */
  slowly(text: string): Promise<readonly Finding[]>;
}

/** The rule of a text that has more to read than is read: nobody can say what is in the rest. */
export const UNREAD = 'unread';

/** What is said of lines that are joined: rows of names and values are no sentences, and read like anything. */
const isOfOrders = (rule: string): boolean => rule !== 'model' && !rule.startsWith('secret.');

/** As many as a text gets; who lists a Skill reads no more. */
const MOST_FINDINGS = 100;
/** As many characters are read by the rules in one save. Of texts about other things than assistants they read a small part. */
const MOST_READ = 300_000;
/** Characters that are gone through at once. */
const AT_ONCE = 50_000;

const OVERLAP = 1000;

/**
 * What screening finds in texts of a Skill, line by line, each rule once a line, at most 100 a text. Findings do not stop a Skill from being
 * saved; who lists it accepts them. Time is linear in the length of the texts, and what the rules read is bounded for all of them together.
 */
export const findingsWithin = (most = MOST_READ): Finder => {
  let left = most;
  /** False once no more is to be found. */
  const read = ({ text, line, isJoined = false }: Suspect, found: Finding[]): boolean => {
    left -= text.length;
    for (const rule of left < 0 ? [UNREAD] : screen(text, 'skill').rules)
      if ((!isJoined || isOfOrders(rule)) && !found.some((other) => other.line === line && other.rule === rule))
        found.push({ rule, line });
    return left >= 0 && found.length < MOST_FINDINGS;
  };
  const find = (text: string): readonly Finding[] => {
    const found: Finding[] = [];
    for (const suspect of suspectsIn(text)) if (!read(suspect, found)) break;
    return found.slice(0, MOST_FINDINGS);
  };
  const slowly = async (text: string): Promise<readonly Finding[]> => {
    const found: Finding[] = [];
    for (let [from, line] = [0, 1]; from < text.length;) {
      const to = endOfSlice(text, from);
      const slice = text.slice(from, to);
      for (const suspect of suspectsIn(slice, line)) if (!read(suspect, found)) return found.slice(0, MOST_FINDINGS);
      const next = to === text.length ? to : beforeEnd(text, to);
      line += text.slice(from, next).match(LINE_END)?.length ?? 0;
      from = next;
      await setImmediate();
    }
    return found;
  };
  return Object.assign(find, { slowly });
};

const LINE_END = /\n/g;

/** Behind the line that ends first after so many characters; within a line that is too long for that. */
const endOfSlice = (text: string, from: number): number => {
  const end = text.indexOf('\n', from + AT_ONCE);
  return end < 0 || end > from + 2 * AT_ONCE ? Math.min(text.length, from + 2 * AT_ONCE) : end + 1;
};

/** Where the next slice begins: lines that may be the beginning of a sentence, or the end of a line that was cut, are read again. */
const beforeEnd = (text: string, end: number): number =>
  Math.max(text.lastIndexOf('\n', end - OVERLAP) + 1, end - 2 * OVERLAP);
