import { unmasked } from './canonical';
import { apart } from './decodings';

/** Whether digits end in a check digit by Luhn's algorithm (ISO/IEC 7812-1, annex B). */
const passesLuhn = (digits: string): boolean => {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
};

/** Whether an IBAN's check digits hold (ISO 13616: modulo 97). */
const isIban = (text: string): boolean => {
  const compact = text.replace(/[ -]/g, '').toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(compact)) return false;
  let rest = 0;
  for (const letter of compact.slice(4) + compact.slice(0, 4))
    rest = Number(`${rest}${Number.parseInt(letter, 36)}`) % 97;
  return rest === 1;
};

const CARD = /(?<![\d.,-])[2-6]\d{3}(?:[ -]?\d){8,15}(?![\d-])/g;
const IBAN = /\b[a-z]{2}\d{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,4})?\b/gi;

/** Keys and tokens by the forms that their issuers give them. */
const ISSUED: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY/i,
  /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/,
  /\bgh[pousr]_[A-Za-z0-9]{20,255}/,
  /\bgithub_pat_\w{20,255}/,
  /\bglpat-[\w-]{16,64}/,
  /\bxox[abeoprs]-[\w-]{10,255}/,
  /\bxapp-\d-[\w-]{10,255}/,
  /\b(?:sk|pk|rk|whsec)[-_](?:live|test|prod|proj|ant|or|svcacct)?[-_]?(?=[\w-]{0,60}\d)[A-Za-z0-9_-]{16,255}/,
  /\bAIza[\w-]{30,45}/,
  /\bya29\.[\w-]{20,255}/,
  /\beyJ[\w-]{8,4096}\.eyJ[\w-]{8,4096}\./,
  /\b(?:npm|hf|dop_v1|shpat|pypi|dckr_pat|sbp|figd|lin_api|tskey|vault|hvs|r8|gsk|pat)[_.-](?=[\w-]{0,60}\d)[A-Za-z0-9_-]{20,255}/,
  /\bSG\.[\w-]{16,64}\.[\w-]{16,64}/,
  /\bkey-[0-9a-f]{32}\b/,
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/]{1,80}:[^\s:@/]{3,80}@/i,
  /\bhttps:\/\/hooks\.slack\.com\/services\/\w{6,}/i,
  /\bAccountKey=[A-Za-z0-9+/=]{20,}/,
];

/** Words for a secret, in both languages; German ones are put together with any other: Mailpasswort, Tresorkombination. */
const NAMES = [
  String.raw`\p{L}{0,20}(?:passwor[dt]|kennwort|losungswort|geheimzahl)`,
  'pass(?:code|phrase|wd)|pwd|pin|pin-?(?:code|nummer)|puk|cvv|cvc|tan|token|secret|credentials?|zugangsdaten|login|logindaten',
  '(?:zugangs|geheim|alarm|sperr|entsperr|sicherheits|tresor|schloss|t[uü]e?r|tor|garagen|zahlen)[- ]?(?:code|kombination)',
  '(?:alarm|access|entry|unlock|security|safe|vault|door|gate|lock|locker|garage)[- ](?:code|combination)',
  '(?:api|access|secret|private|zugriffs|zugangs|lizenz|license)[-_ ]?(?:key|token|schl[uü]e?ssel)',
  'wi-?fi|wlan|(?:wi-?fi|wlan|wpa[23]?|netzwerk|network|router)[- ]?(?:key|code|schl[uü]e?ssel)',
  'seed[- ]?phrase|recovery[- ]?(?:code|phrase|key)|wiederherstellungs(?:code|phrase|schl[uü]e?ssel)',
  'ssn|steuer-?id|sozialversicherungsnummer|social security(?: number)?',
  // "the code of the alarm", "die Kombination für den Tresor"
  String.raw`(?:code|combination|kombination)(?= (?:of|for|to|der|des|vom|zum|zur|für|am) (?:\p{L}{2,12} ){0,2}(?:alarm|safe|tresor|t[uü]e?r|tor|gate|door|schloss|lock|garage|vault)\p{L}{0,12}\b)`,
].join('|');
/** Behind a word for a secret: what keeps or makes such, and is none. */
const KEEPERS = '[ -](?:manager|generator)s?';
/** A word for a secret, up to six words, then its value. What follows must look like one: a digit, a symbol, or both cases within. */
const NAMED = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])(?:${NAMES})(?!\p{L}|${KEEPERS}(?!\p{L}))["']?(?: [\p{L}'-]{1,20}){0,6}?(?: ?[:=]{1,2} ?| (?:is|lautet|ist|was|war|heißt|are|equals|sind|to|auf)(?: now| jetzt| nun| currently| aktuell| still)?:? )["'\x60]?([^\s"'\x60,;]{3,200})`,
  'giu',
);

/** The words that a wallet or an account is restored by: six or more in a row, none of which holds a sentence together. */
const SEED =
  /(?<!\p{L})(?:recovery|seed|mnemonic|wallet|wiederherstellungs)[- ]?(?:words?|phrase|w[oö]e?rter|satz)(?: [\p{L}'-]{1,20}){0,4}?(?: ?[:=] ?| (?:is|are|ist|sind|lautet|lauten):? )["'`]?((?:\p{L}{3,10}[ ,]{1,2}){5,23}\p{L}{3,10})/giu;
const HOLDING =
  /(?<!\p{L})(?:the|and|for|with|not|are|was|has|have|that|this|from|into|only|kept|stored|written|der|die|das|den|dem|und|für|mit|nicht|sind|ist|wird|werden|eine?[mnrs]?|auf|bei|von|mein\p{L}{0,2})(?!\p{L})/iu;

const looksSecret = (value: string): boolean => {
  const bare = value.replace(/[.,;:!?)]+$/, '');
  if (/^\d{3,12}$/.test(bare)) return true;
  if (bare.length < 5 || /^\d{1,4}[-./]\d{1,2}[-./]\d{2,4}$/.test(bare)) return false;
  if (/^[\p{Lu}]?[\p{Ll}-]+$/u.test(bare)) return false;
  return (
    (/\d/.test(bare) && /[\p{L}\p{S}!?#@$%&*_]/u.test(bare)) || /[!#$%&*@^~+]/.test(bare) || /\p{Ll}\p{Lu}/u.test(bare)
  );
};

const anyMatch = (text: string, pattern: RegExp, isOne: (match: RegExpExecArray) => boolean): boolean => {
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) if (isOne(match)) return true;
  return false;
};

const namesSecret = (text: string, isOne = looksSecret): boolean =>
  anyMatch(text, NAMED, ([, value = '']) => isOne(value)) ||
  anyMatch(text, SEED, ([, words = '']) => !HOLDING.test(words));

/** Also by names in look-alike letters, and in names of programs, where numbers count and limit: `maxTokenCount = 4096`. */
const isSecretNamed = (text: string, latin: string): boolean => {
  const names = apart(latin);
  return (
    namesSecret(text) ||
    (latin !== text && namesSecret(latin)) ||
    (names !== latin && namesSecret(names, (value) => looksSecret(value) && !/^\d+\D?$/.test(value)))
  );
};

/** The rules that name a secret in a text: `secret.key`, `secret.password`, `secret.card`, `secret.iban`. */
export const secretsIn = (text: string): readonly string[] => {
  const found: string[] = [];
  const latin = unmasked(text);
  if (ISSUED.some((pattern) => pattern.test(text))) found.push('secret.key');
  if (isSecretNamed(text, latin)) found.push('secret.password');
  if (anyMatch(latin, CARD, ([card]) => isCard(card.replace(/[ -]/g, '')))) found.push('secret.card');
  if (anyMatch(latin, IBAN, ([iban]) => isIban(iban))) found.push('secret.iban');
  return found;
};

/** 13 to 19 digits; one of 13 that begins like a time in milliseconds is none. */
const isCard = (digits: string): boolean => digits.length >= 13 && digits.length <= 19 && passesLuhn(digits);
