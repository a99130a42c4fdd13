import { createHmac, timingSafeEqual } from 'node:crypto';

/** HMAC-SHA256 in hex: for secrets, command bodies and values whose plain hash would give them away. */
export const keyedHash = (key: Buffer | string, text: string | Buffer): string =>
  createHmac('sha256', key).update(text).digest('hex');

/** Compares two texts in constant time; texts of different length are unequal, never an exception. */
export const equalSecrets = (a: string, b: string): boolean => {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
};

/** The secret of this instance: keys the hashes of API keys and of names that must be unique, so that the log gives neither away. */
export class InstanceSecret {
  constructor(private readonly secret: Buffer) {}

  /** Hash of a text for one purpose, in hex; the same text hashes differently for another purpose. */
  hash(purpose: string, text: string): string {
    return keyedHash(this.secret, `${purpose}\0${text}`);
  }
}
