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

/** A word for a secret, up to six words, then its value. What follows must look like one: a digit, a symbol, or both cases within. */
const NAMED =
  /\b(?:haupt|master|admin|router|server|start|einmal|gäste|geräte)?(?:passwor[dt]|pass(?:code|phrase|wd)|pwd|kennwort|losungswort|pin|pin-?(?:code|nummer)|puk|cvv|cvc|tan|zugangscode|geheimcode|t[uü]e?rcode|alarmcode|(?:api|access|secret|private|zugriffs|zugangs|lizenz|license)[-_ ]?(?:key|token|schl[uü]e?ssel)|token|secret|credentials?|zugangsdaten|login|logindaten|seed[- ]?phrase|recovery[- ]?(?:code|phrase|key)|wiederherstellungs(?:code|phrase|schl[uü]e?ssel)|wi-?fi|wlan|ssn|steuer-?id|sozialversicherungsnummer|social security(?: number)?)\b["']?(?: [\p{L}'-]{1,20}){0,6}?(?: ?[:=]{1,2} ?| (?:is|lautet|ist|was|war|heißt|are|equals|sind|to|auf)(?: now| jetzt| nun| currently| aktuell| still)?:? )["'`]?([^\s"'`,;]{3,200})/giu;

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

/** The rules that name a secret in a text: `secret.key`, `secret.password`, `secret.card`, `secret.iban`. */
export const secretsIn = (text: string): readonly string[] => {
  const found: string[] = [];
  if (ISSUED.some((pattern) => pattern.test(text))) found.push('secret.key');
  if (anyMatch(text, NAMED, ([, value = '']) => looksSecret(value))) found.push('secret.password');
  if (anyMatch(text, CARD, ([card]) => isCard(card.replace(/[ -]/g, '')))) found.push('secret.card');
  if (anyMatch(text, IBAN, ([iban]) => isIban(iban))) found.push('secret.iban');
  return found;
};

/** 13 to 19 digits; one of 13 that begins like a time in milliseconds is none. */
const isCard = (digits: string): boolean => digits.length >= 13 && digits.length <= 19 && passesLuhn(digits);
