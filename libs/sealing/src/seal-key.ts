import { createPrivateKey, createPublicKey, hash, hkdfSync, type KeyObject, sign, verify } from 'node:crypto';

/** Injection token of the `SealKey`. */
export const SEAL_KEY = Symbol('SealKey');

/** The Ed25519 key that signs seals, derived from the text of `SEAL_KEY`, which is never in the log. */
export interface SealKey {
  readonly keyId: string;
  /** 32 bytes, base64url: what a verifier needs. */
  readonly publicKey: string;
  /** Signature of 64 bytes, base64url. */
  sign(message: string): string;
}

const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** The Ed25519 key that signs seals, derived from `SEAL_KEY`. */
export const sealKeyOf = (secret: string): SealKey => {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'agent-platform/seal/sign/1', 32));
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const publicKey = spki.subarray(SPKI_PREFIX.length).toString('base64url');
  return {
    keyId: keyIdOf(publicKey),
    publicKey,
    sign: (message) => sign(null, Buffer.from(message), privateKey).toString('base64url'),
  };
};

/** Names a public key: the first 16 hex digits of its SHA-256. */
export const keyIdOf = (publicKey: string): string => hash('sha256', Buffer.from(publicKey, 'base64url')).slice(0, 16);

/** Throws when the text is no Ed25519 public key of 32 bytes in base64url. */
export const publicKeyOf = (text: string): KeyObject => {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== 32) throw new Error('a public key of seals is 32 bytes in base64url');
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, bytes]), format: 'der', type: 'spki' });
};

/** Whether a signature, base64url, is that of the key over the message. */
export const isSignedBy = (publicKey: KeyObject, message: string, signature: string): boolean =>
  verify(null, Buffer.from(message), publicKey, Buffer.from(signature, 'base64url'));
