import { screen } from './screen';

/** Where screening found something in a file. */
export interface Finding {
  /** The rule that found it, as `obey.override`. */
  readonly rule: string;
  readonly path: string;
  /** From 1. */
  readonly line: number;
}

/** As many as a file gets; who lists a Skill reads no more. */
const MOST_FINDINGS = 100;
/** Longer lines are read in parts, which share `OVERLAP` characters so that no sentence is cut in two unread. */
const PART = 2000;
const OVERLAP = 200;

/**
 * Words and signs without which a line cannot be flagged. Most lines of most files have none, and are done with after this one pattern;
 * the rules read the others.
 */
const SUSPECT =
  /ignor|disregard|forget|overrid|bypass|circumvent|supersed|vergiss|missacht|umgeh|überschreib|ueberschreib|prompt|instruct|anweisung|secret|geheim|heimlich|silent|quietly|covert|unbemerkt|reveal|disclose|exfiltrat|verrat|hide|conceal|verberg|verschweig|verheimlich|jailbreak|unrestricted|uneingeschr|act as|pretend|you are now|du bist jetzt|assistant|assistent|system|confirm|approval|asking|bestätig|rückfrag|nachfrag|trust|vertrau|password|passwor|kennwort|credential|token|key|private|iban|card|konto|pin\b|login|wi-?fi|wlan|puk|cv[cv]\b|phrase|code\b|ssn|steuer|\b[psr]k[-_]|whsec|gh[opsur]_|glpat|xox[abeoprs]-|xapp-|\ba[ksbc][ic]a[a-z\d]{16}|aiza|ya29|eyj|npm_|hf_|sg\.|:\/\/[^\s/@]{1,80}@|hooks\.slack|\d{4}[ -]?\d{4}[ -]?\d{4}|<!--|display: ?none|!\[|[^\p{L}\p{M}\p{N}\p{P}\p{S}\s]|[\u0370-\u04ff\u0530-\u058f\u{1d400}-\u{1d7ff}\uff21-\uff5a]/iu;

const parts = (line: string): readonly string[] => {
  const all: string[] = [];
  for (let from = 0; from === 0 || from + OVERLAP < line.length; from += PART - OVERLAP)
    all.push(line.slice(from, from + PART));
  return all;
};

/**
 * What screening finds in a file of a Skill, line by line, each rule once a line, at most 100. Findings do not stop a Skill from being
 * saved; who lists it accepts them. Time is linear in the length of the text.
 */
export const findings = (markdownOrText: string, path: string): readonly Finding[] => {
  const found: Finding[] = [];
  for (const [index, line] of markdownOrText.split(/\r\n|[\n\r\u0085\u2028\u2029]/).entries()) {
    const suspects = parts(line).filter((part) => SUSPECT.test(part));
    const rules = new Set(suspects.flatMap((part) => screen(part, 'skill').rules));
    for (const rule of rules) found.push({ rule, path, line: index + 1 });
    if (found.length >= MOST_FINDINGS) return found.slice(0, MOST_FINDINGS);
  }
  return found;
};
