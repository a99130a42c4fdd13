import { BlockList, isIP } from 'node:net';

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
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  SPECIAL.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  SPECIAL.addSubnet(network, prefix, 'ipv6');
/** All that IANA gives out; what maps or translates IPv4 (`::ffff:`, `64:ff9b::`), what is local and multicast stands outside. */
const GLOBAL_UNICAST = new BlockList();
GLOBAL_UNICAST.addSubnet('2000::', 3, 'ipv6');

/** True for an IP address on the public internet. False for what is no IP address, and for one with a zone. */
export const isPublicIp = (address: string): boolean => {
  if (address.includes('%')) return false;
  const family = isIP(address);
  if (family === 4) return !SPECIAL.check(address, 'ipv4');
  return family === 6 && GLOBAL_UNICAST.check(address, 'ipv6') && !SPECIAL.check(address, 'ipv6');
};

/** Names that public DNS does not give out; those of one label are of the network that the provider stands in. */
const PRIVATE_NAME = /^[^.]*\.?$|\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa)\.?$/;
const EMBEDDED = /^data:(?:image|audio|video|application)\/(?!svg)[a-z0-9.+-]+[;,]/i;

/**
 * True for an address that a provider may be asked to fetch from: bytes in the address itself, or `http(s)` on the public
 * internet, as far as the address tells. What a name stands for is not looked up: the provider does that, not we. Where the
 * product itself connects, `guardedConnector` checks the address that it connects to.
 */
export const isPublicAddress = (text: string): boolean => {
  if (/^data:/i.test(text)) return EMBEDDED.test(text);
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    return false;
  const host = bareHost(url.hostname);
  return isIP(host) === 0 ? !PRIVATE_NAME.test(host) : isPublicIp(host);
};

/** The host of a URL as sockets take it: an IPv6 address without its brackets. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
