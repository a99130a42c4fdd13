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
export const withoutSecret = (text: string, secret: string | undefined): string =>
  secret === undefined ? text : formsOf(secret).reduce((rest, form) => rest.replaceAll(form, '[secret]'), text);

const formsOf = (secret: string): readonly string[] => {
  const password = secret.slice(secret.indexOf(':') + 1);
  const plain = password.length < SHORTEST_SECRET ? [secret] : [secret, password];
  const forms = plain.flatMap((each) => [
    each,
    encodeURIComponent(each),
    new URLSearchParams([['', each]]).toString().slice(1),
    JSON.stringify(each).slice(1, -1),
    Buffer.from(each).toString('base64'),
    Buffer.from(each).toString('base64url'),
  ]);
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
};
