/** Reasons to reject a credential other than being unknown; see `credential.ts`. */
export type CredentialFault =
  | 'no_key'
  | 'key_in_authorization'
  | 'malformed_authorization'
  | 'two_keys'
  | 'no_session'
  | 'two_sessions'
  | 'wrong_sign_in';

/** The same for every key that is well-formed and wrong: nothing tells a revoked one from one that never was. */
const WRONG_KEY =
  'The API key in the header x-api-key is not valid. It is unknown, revoked or expired, or its user is suspended. Check it, or ask an admin for a new one.';

const core: Readonly<Record<CredentialFault, string>> = {
  no_key: 'The request has no API key. Send one in the header x-api-key.',
  key_in_authorization:
    'Send the API key in the header x-api-key, and no authorization header. This API does not read authorization.',
  malformed_authorization: WRONG_KEY,
  two_keys: WRONG_KEY,
  no_session: 'Session expired or unknown. Sign in again with POST /api/v1/session.',
  two_sessions:
    'The request has the cookie ap_session more than once. Remove the cookies of this site, and sign in again.',
  wrong_sign_in:
    'The API key in the field apiKey is not valid. It is unknown, revoked or expired, or its user is suspended. Check it, or ask an admin for a new one.',
};

/** Clients such as LiteLLM know a wrong key by how its message begins. */
const WRONG_COMPATIBLE_KEY =
  'Incorrect API key provided. It is unknown, revoked or expired, or its user is suspended. Check it, or ask an admin for a new one.';

const compatible: Readonly<Partial<Record<CredentialFault, string>>> = {
  no_key: "You didn't provide an API key. Send one as Authorization: Bearer, or in the header x-api-key.",
  key_in_authorization: WRONG_COMPATIBLE_KEY,
  malformed_authorization:
    'Incorrect API key provided: the header authorization must be "Bearer", a space and one API key, once.',
  two_keys: 'Incorrect API key provided: authorization and x-api-key hold different keys. Send one of them.',
};

/** The message of a 401 of the core API. */
export const wrongKeySentence = (reason: unknown): string => (isFault(reason) ? core[reason] : WRONG_KEY);

/** The message of a 401 of the compatible API. */
export const wrongCompatibleKeySentence = (reason: unknown): string =>
  (isFault(reason) ? compatible[reason] : undefined) ?? WRONG_COMPATIBLE_KEY;

const isFault = (reason: unknown): reason is CredentialFault =>
  typeof reason === 'string' && Object.hasOwn(core, reason);
