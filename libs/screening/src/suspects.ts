import { unmasked } from './canonical';
import { reversed, rot13 } from './decodings';

/** Groups of words, one bit each. Where a line has words of two that belong together, the rules read it. */
const OVERRIDE = 1;
const ORDER = 2;
const HIDE = 4;
const AGENT = 8;
const SECRET = 16;
const ACT = 32;
const SKIP = 64;
const MARKUP = 128;
/** Digits or capitals within a word, and runs of digits: what keys, cards and encoded text have. */
const CODE = 256;
/** Characters that nobody sees or that look like others, letters apart, addresses with a password. */
const ODD = 512;
const DATA = 1024;

/** Beginnings of words, 3 to 9 letters of them, and words of two, by group. */
const STEMS: readonly (readonly [number, string])[] = [
  [
    OVERRIDE,
    'ignor igonr disreg forget overrid overrul bypass circum supers jailbr vergiss missacht umgeh übergeh überschr ueberschr aufgehob hinfällig disable deaktiv discard replac outrank obey comply gehorch befolg lifted suspend turned void pretend unrestr unfilt ungefilt unzens uneinges dan grenzen restrict',
  ],
  [
    ORDER,
    'instruc anweis prompt rules guideli polic safegua guardra regeln richtlin vorgab befehl filter moral role rolle orders',
  ],
  [
    HIDE,
    'secretly silent quietl covert stealth reveal disclos exfil leak hide hidden conceal withhold verrat verrät heimlich unbemerkt verberg verschw verheim verstec preisge unauffä notic still without never niemand ohne nobody nichts hintergrund backgrou invisib lie omit',
  ],
  [
    AGENT,
    'ai ki assist agent chatbot llm sprachmod bot bots copilot model modell machine maschin claude chatgpt developer entwickl',
  ],
  [
    SECRET,
    'secret passwo passwö passphr passcod kennwor credent token api key privat iban card konto pin puk cvv cvc tan login wifi wlan ssn steuer social seed mnemon wallet recover wiederh zugang geheim netzwer network router alarm tresor kombin combina losung',
  ],
  [
    DATA,
    'system memor gedächt erinner convers chat gespräch data daten file datei dokument document mail inbox postfach user nutzer contact kontakt calend kalend',
  ],
  [
    ACT,
    'send forward upload post transfer wire delet remov execut run call invoke fetch downl install grant approv subscr append insert act behav leite schick sende lösch überweis führ ruf lade genehm include append visit click besuch klick enter answer antwor start begin put attach add search durchsu drop play let translate begin change change set remember merk save speicher open öffne book buche pay zahl refund erstatt share teile gib give show zeig print repeat wiederh output tell sag say write schreib add hänge recommen empfiehl rate rank nenn bewert accept nimm',
  ],
  [
    SKIP,
    'confirm approv asking permis consent verif mention inform notif bestätig rückfrag nachfrag freigab zustimm erwähn informier erlaub trust vertrau must muss always immer admin verified whitelis',
  ],
];

/** Words of orders in rot13 and backwards, whose first letters are looked for. */
const HIDDEN =
  'ignore previous instructions system prompt reveal rules password assistant send forward ignoriere anweisungen regeln verrate zeige sende passwort'.split(
    ' ',
  );

/** Small Latin letters without accents, for those of Latin script and for letters of others that look like them; 0 for what is none. */
const BASE = Uint16Array.from({ length: 0x590 }, (_, code) => {
  const letter = String.fromCharCode(code);
  if (!/\p{L}/u.test(letter)) return 0;
  const base = (code < 0x250 ? letter.normalize('NFD') : unmasked(letter)).toLowerCase();
  return code < 0x250 || /^[a-z]/.test(base) ? base.charCodeAt(0) : 0;
});
const unaccented = (word: string): string => word.normalize('NFD').replace(/\p{M}/gu, '');

const SIZE = 4096;
const hashes = new Int32Array(SIZE);
const groups = new Int32Array(SIZE);
const hashed = (stem: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < stem.length; index++) hash = Math.imul(hash ^ stem.charCodeAt(index), 0x01000193);
  return hash;
};
const add = (group: number, stem: string): void => {
  const hash = hashed(stem);
  let slot = (hash >>> 16) & (SIZE - 1);
  while (hashes[slot] !== 0 && hashes[slot] !== hash) slot = (slot + 1) & (SIZE - 1);
  hashes[slot] = hash;
  groups[slot] = (groups[slot] ?? 0) | group;
};
for (const [group, stems] of STEMS) for (const stem of stems.split(' ')) add(group, unaccented(stem));
const LONGEST_STEM = 9;
for (const word of HIDDEN) for (const hidden of [rot13(word), reversed(word)]) add(ODD, hidden.slice(0, LONGEST_STEM));
const groupOf = (hash: number): number => {
  let slot = (hash >>> 16) & (SIZE - 1);
  while (hashes[slot] !== 0) {
    if (hashes[slot] === hash) return groups[slot] ?? 0;
    slot = (slot + 1) & (SIZE - 1);
  }
  return 0;
};

const has = (seen: number, bits: number): boolean => (seen & bits) !== 0;
const count = (seen: number, bits: number): number => {
  let found = 0;
  for (let left = seen & bits; left !== 0; left &= left - 1) found++;
  return found;
};
/** Whether words of these groups beside each other may be an order or a secret. */
const isSuspect = (seen: number): boolean =>
  has(seen, ODD) ||
  (has(seen, SECRET) && has(seen, CODE)) ||
  (has(seen, MARKUP) && has(seen, OVERRIDE | AGENT | HIDE)) ||
  has(seen, AGENT | OVERRIDE) ||
  count(seen, HIDE | ORDER | SECRET | DATA | ACT | SKIP) >= 2;

/** Digits of a card or an account, letters of a key, letters that stand apart. */
const [MOST_DIGITS, MOST_LETTERS, MOST_APART] = [13, 20, 5];

const isUnseen = (code: number): boolean =>
  code < 9 ||
  (code > 13 && code < 32) ||
  code === 0xad ||
  (code >= 0x200b && code <= 0x200f) ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2060 && code <= 0x206f) ||
  code === 0xfeff ||
  // Small capitals; letters in brackets and circles.
  (code >= 0x1d00 && code <= 0x1dbf) ||
  (code >= 0x249c && code <= 0x24e9) ||
  // Full width; tag characters and variation selectors beyond the first plane; letters of mathematics.
  (code >= 0xff01 && code <= 0xff5e) ||
  code === 0xdb40 ||
  code === 0xd835;

/** An address with a user. */
const WITH_USER = /:\/\/[^\s/@]{1,160}@/;

/** Escapes of letters, of percent signs and of what is beyond ASCII by number; white letters on black and regional letters. */
const ESCAPE =
  /%(?:u[0-9a-f]{4}|25|[46][1-9a-f]|[57][0-9a])|\\[ux]\{?[0-9a-f]{2}|&#(?:0*(?:6[5-9]|[7-9]\d|1[0-2]\d|\d{4})|x0*[4-7][0-9a-f]|x\d[0-9a-f]{3})|\\[0-3][0-7]{2}|\ud83c[\udd50-\udd69\udd70-\udd89\udde6-\uddff]/i;
/** What names the words that a wallet is restored by. */
const SEED = /(?:recovery|seed|mnemonic|wallet|wiederherstellungs)[- ]?(?:words?|phrase|w[oö]e?rter|satz)/i;
/** Words for secrets at the ends of German compounds. */
const COMPOUND = /passw[oö]r[dt]|kennwort|losungswort|geheimzahl|schl(?:ü|ue?)ssel/i;
/** The letters that digits from 0 to 7 stand for in words; 0 of a digit that stands for none. */
const LEET = Array.from('oi-eas-t', (letter) => (letter === '-' ? 0 : letter.charCodeAt(0)));

const FIRST_HASH = 0x811c9dc5;
const [LATIN, OTHER] = [1, 2];
const UNDERSCORE = 95;
const HYPHEN = 45;
/** The hyphens and dashes of typography; the first of digits that Arabic and Persian write. */
const [HYPHENS, DASHES, ARABIC_DIGITS, PERSIAN_DIGITS] = [0x2010, 0x2015, 0x660, 0x6f0];

/** Goes through the characters of a part of a line, and gathers the groups of its words. */
class Words {
  /** Bits of groups. */
  seen = 0;
  private hash = FIRST_HASH;
  /** The same with letters for digits. */
  private leet = FIRST_HASH;
  /** Letters, and digits for letters, of a word that is joined with others. */
  private part = 0;
  private leetDigits = 0;
  private wasSmall = false;
  private isJoined = false;
  private letters = 0;
  private digits = 0;
  private hasCapital = false;
  /** Scripts of the word. */
  private scripts = 0;
  /** Digits since the last letter, with single spaces and hyphens between them. */
  private run = 0;
  /** Words of one character. */
  private apart = 0;

  take(code: number): void {
    const lower = BASE[code] ?? 0;
    if (lower !== 0) this.letter(lower, code >= 65 && code <= 90, code < 0x370 ? LATIN : OTHER);
    else if (code >= 48 && code <= 57) this.digit(code - 48);
    else if ((code & ~15) === ARABIC_DIGITS || (code & ~15) === PERSIAN_DIGITS) this.digit(code & 15);
    else if (code >= 0x370 && code < 0x590) {
      this.letters++;
      this.scripts |= OTHER;
    } else if (code === UNDERSCORE || code === HYPHEN) this.endPart();
    else if (code < 0x300 || code >= 0x370) {
      if (isUnseen(code)) this.seen |= ODD;
      this.end();
      if (code !== 32 && (code < HYPHENS || code > DASHES)) this.run = 0;
    }
  }

  /** The word ends. */
  end(): void {
    const length = this.letters + this.digits;
    if (length === 0) return;
    if (this.letters === 2) this.seen |= groupOf(this.hash);
    this.endPart();
    if (this.scripts === (LATIN | OTHER)) this.seen |= ODD;
    if (this.digits > 2 || (this.digits > 0 && length > 3)) this.seen |= CODE;
    if (length >= MOST_LETTERS && this.digits > 0 && this.hasCapital) this.seen |= ODD;
    this.apart = length === 1 ? this.apart + 1 : 0;
    if (this.apart >= MOST_APART) this.seen |= ODD;
    this.letters = this.digits = this.scripts = 0;
    this.hasCapital = this.isJoined = false;
  }

  /** One of the words ends that are joined: `send_all_data`, `sendAllData`. */
  private endPart(): void {
    this.hash = this.leet = FIRST_HASH;
    this.part = this.leetDigits = 0;
    this.wasSmall = false;
    this.isJoined = true;
  }

  private digit(digit: number): void {
    this.digits++;
    if (++this.run >= MOST_DIGITS) this.seen |= ODD;
    const letter = LEET[digit] ?? 0;
    if (letter === 0) return;
    this.leetDigits++;
    this.leet = Math.imul(this.leet ^ letter, 0x01000193);
    if (this.part > 1) this.add(this.leet);
  }

  private letter(lower: number, isCapital: boolean, script: number): void {
    if (this.letters > 0 && isCapital) this.hasCapital = true;
    if (isCapital && this.wasSmall) this.endPart();
    this.wasSmall = !isCapital;
    this.letters++;
    this.part++;
    this.scripts |= script;
    this.run = 0;
    if (this.part > LONGEST_STEM) return;
    this.hash = Math.imul(this.hash ^ lower, 0x01000193);
    if (this.part > 2) this.add(this.hash);
    this.leet = Math.imul(this.leet ^ lower, 0x01000193);
    if (this.leetDigits > 0 && this.part > 1) this.add(this.leet);
  }

  /** Names in programs speak of assistants, as `toModelOutput`; who speaks to them begins with that. */
  private add(hash: number): void {
    this.seen |= groupOf(hash) & (this.isJoined ? ~AGENT : ~0);
  }
}

/** A part of a line that may break a rule. */
export interface Suspect {
  readonly text: string;
  /** From 1. */
  readonly line: number;
  /** Whether it is joined from several lines, the last of which it names. */
  readonly isJoined?: boolean;
}

/** A line is read in parts: of this many characters, with as many before it, so that no sentence is cut in two unread. */
const PART = 1000;

const seenIn = (part: string): number => {
  const words = new Words();
  for (let index = 0; index < part.length; index++) words.take(part.charCodeAt(index));
  words.end();
  return (
    words.seen |
    (part.includes('<!--') ? MARKUP : 0) |
    (WITH_USER.test(part) || ESCAPE.test(part) || SEED.test(part) ? ODD : 0) |
    (COMPOUND.test(part) ? SECRET : 0)
  );
};

/** So many characters of the sentence that a line goes on with are read with it. */
const CARRIED = 300;
/** A line that goes on with the sentence of the one before: no heading, item, row, quote or code. */
const GOES_ON = /^ {0,3}[\p{L}\d"'„“(]/u;
const SENTENCE_END = /[.!?:;|`>}\])][*_"'“” \r]*$/;

/** The parts of a text that the rules are to read, in one pass; a sentence over several lines is read at each of them. */
export function* suspectsIn(text: string, firstLine = 1): Generator<Suspect> {
  let line = firstLine;
  let carried = '';
  let carriedSeen = 0;
  for (let start = 0; start < text.length; line++) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const isLong = end - start > CARRIED;
    const head = isLong ? '' : text.slice(start, end).trimEnd();
    let before = 0;
    for (let from = start; from < end; from += PART) {
      const seen = seenIn(text.slice(from, Math.min(from + PART, end)));
      if (isSuspect(seen | before))
        yield { text: text.slice(Math.max(start, from - PART), Math.min(from + PART, end)), line };
      before = seen;
    }
    const goesOn = carried !== '' && GOES_ON.test(head);
    const sentence = goesOn ? `${carried} ${head.trimStart()}` : head;
    const seenOfAll = goesOn ? before | carriedSeen : before;
    if (goesOn && isSuspect(seenOfAll)) yield { text: sentence, line, isJoined: true };
    const isOver = SENTENCE_END.test(head);
    carried = isOver ? '' : sentence.slice(-CARRIED);
    carriedSeen = isOver ? 0 : seenOfAll;
    start = end + 1;
  }
}
