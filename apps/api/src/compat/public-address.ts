import { BlockList, isIPv6 } from 'node:net';

/** Networks that are not the public internet (IANA's registries of special-purpose addresses). */
const SPECIAL = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  SPECIAL.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  SPECIAL.addSubnet(network, prefix, 'ipv6');

const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;
/** Names that public DNS does not give out; those of one label are of the network that the provider stands in. */
const PRIVATE_NAME = /^[^.]*\.?$|\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa)\.?$/;
const EMBEDDED = /^data:(?:image|audio|video|application)\/(?!svg)[a-z0-9.+-]+[;,]/i;

/**
 * True for an address that a provider may be asked to fetch from: bytes in the address itself, or `http(s)` on the public
 * internet, as far as the address tells. What a name stands for is not looked up: the provider does that, not we.
 */
export const isPublicAddress = (text: string): boolean => {
  if (/^data:/i.test(text)) return EMBEDDED.test(text);
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    return false;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIPv6(host)) return !SPECIAL.check(host, 'ipv6');
  return IPV4.test(host) ? !SPECIAL.check(host, 'ipv4') : !PRIVATE_NAME.test(host);
};
