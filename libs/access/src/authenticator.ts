import type { Caller } from './caller';

/** Turns a credential into a caller. Folds the key's and the user's streams, so that a revoked key is refused at the next request. */
export abstract class Authenticator {
  /** The caller behind an API key's secret; undefined for anything that is no valid key of an active user now. */
  abstract authenticate(secret: string): Promise<Caller | undefined>;
}
