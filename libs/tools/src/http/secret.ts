import type { SecretUse } from '../openapi/security';

/** What a secret adds to a request. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
}

/** Fewer characters than a secret has, and than are taken out of what an API answers. */
export const SHORTEST_SECRET = 8;

export const credentialsOf = (use: SecretUse, secret: string): Credentials => {
  switch (use.kind) {
    case 'bearer':
      return { headers: { authorization: `Bearer ${secret}` }, query: [] };
    case 'basic':
      return { headers: { authorization: `Basic ${Buffer.from(secret).toString('base64')}` }, query: [] };
    case 'header':
      return { headers: { [use.name.toLowerCase()]: secret }, query: [] };
    default:
      return { headers: {}, query: [[use.name, secret]] };
  }
};

/**
 * Takes a secret out of a text that an API answered, however it may have been written there: an API that repeats what it was sent
 * must not tell it to the model.
 */
export const withoutSecret = (text: string, secret: string | undefined): string => {
  if (secret === undefined) return text;
  const plain = formsOf(secret).reduce((rest, form) => rest.replaceAll(form, SHOWN), text);
  return secretsIn(secret).reduce(withoutEscaped, plain);
};

const SHOWN = '[secret]';

/** The secret, and its password where that is long enough to be looked for. */
const secretsIn = (secret: string): readonly string[] => {
  const password = secret.slice(secret.indexOf(':') + 1);
  return password === secret || password.length < SHORTEST_SECRET ? [secret] : [secret, password];
};

const formsOf = (secret: string): readonly string[] => {
  const forms = secretsIn(secret).flatMap((each) => [
    each,
    encodeURIComponent(each),
    new URLSearchParams([['', each]]).toString().slice(1),
    JSON.stringify(each).slice(1, -1),
    Buffer.from(each).toString('base64'),
    Buffer.from(each).toString('base64url'),
  ]);
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
};

/** Takes out a secret of which any characters are escaped: what is escaped in JSON, in addresses and in HTML differs from program to program. */
const withoutEscaped = (text: string, secret: string): string => {
  const characters = [...secret].map(escapesOf);
  const heads = new Set(characters[0]?.map((form) => form[0]));
  let [rest, end] = ['', 0];
  for (let at = 0; at < text.length; at += 1) {
    const found = heads.has(text[at]) ? endOf(characters, text, at) : undefined;
    if (found === undefined) continue;
    rest += text.slice(end, at) + SHOWN;
    end = found;
    at = found - 1;
  }
  return rest + text.slice(end);
};

const endOf = (characters: readonly (readonly string[])[], text: string, from: number): number | undefined => {
  let at = from;
  for (const forms of characters) {
    const form = forms.find((each) => text.startsWith(each, at));
    if (form === undefined) return undefined;
    at += form.length;
  }
  return at;
};

const NAMED: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** A character as it may be written, the longest form first. */
const escapesOf = (character: string): readonly string[] => {
  const code = character.codePointAt(0) ?? 0;
  const units = [...Array(character.length).keys()].map((unit) => hex(character.charCodeAt(unit), 4));
  const bytes = [...Buffer.from(character)].map((byte) => hex(byte, 2));
  const inHex = [
    units.map((unit) => `\\u${unit}`).join(''),
    bytes.map((byte) => `%${byte}`).join(''),
    `&#x${code.toString(16)};`,
    `&#x${hex(code, 2)};`,
  ];
  const forms = [
    character,
    JSON.stringify(character).slice(1, -1),
    ...(character === '/' ? ['\\/'] : []),
    ...(character === ' ' ? ['+'] : []),
    ...(Object.hasOwn(NAMED, character) ? [`&${NAMED[character]};`] : []),
    `&#${code};`,
    ...inHex,
    // The digits alone: `\U` and `&#X` are written by nobody.
    ...inHex.map((form) => form.replaceAll(/[a-f]/g, (digit) => digit.toUpperCase())),
  ];
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
};

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
