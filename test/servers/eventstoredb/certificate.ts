import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { ServerCertificate } from './service';

/**
 * A new certificate for localhost and an IPv4 address that signs itself, valid for a day: as PEM it is also the `tlsCAFile`
 * of those who trust it. Node reads certificates and cannot make them, so this writes the few fields of one (RFC 5280).
 */
export const createCertificate = (commonName = 'localhost', address = '127.0.0.1'): ServerCertificate => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(identifier('550403'), text(commonName))));
  const now = Date.now();
  const signed = sequence(
    tagged(0xa0, integer(Buffer.from([2]))), // version 3
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(now - HOUR), time(now + 24 * HOUR)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(EXTENSION_AUTHORITY, namesOf(address))),
  );
  const signature = sign('sha256', signed, privateKey);
  const der = sequence(signed, ECDSA_WITH_SHA256, tagged(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    certificate: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
};

const HOUR = 3_600_000;

const tagged = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, ...parts);
const set = (...parts: readonly Buffer[]): Buffer => tagged(0x31, ...parts);
const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes);
const identifier = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'));
const text = (value: string): Buffer => tagged(0x0c, Buffer.from(value));
/** As `UTCTime`: `YYMMDDhhmmssZ`. */
const time = (ms: number): Buffer =>
  tagged(0x17, Buffer.from(`${new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`));

const ECDSA_WITH_SHA256 = sequence(identifier('2a8648ce3d040302'));
const TRUE = Buffer.from([0x01, 0x01, 0xff]);
/** Critical, since only an authority may sign: its own certificate here. */
const EXTENSION_AUTHORITY = sequence(identifier('551d13'), TRUE, tagged(0x04, sequence(TRUE)));
const namesOf = (address: string): Buffer =>
  sequence(
    identifier('551d11'),
    tagged(
      0x04,
      sequence(tagged(0x82, Buffer.from('localhost')), tagged(0x87, Buffer.from(address.split('.').map(Number)))),
    ),
  );
