import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

/**
 * The client address: the peer of the connection or, if the peer is a trusted proxy, the address the proxy forwarded.
 * Any client can send `X-Forwarded-For`, so it is read from the right, and only as far as trusted proxies wrote it.
 */
export function clientAddress(
  connected: string | undefined,
  forwardedFor: string | undefined,
  proxies: BlockList,
): string {
  let address = normalizeAddress(connected ?? '');
  if (forwardedFor === undefined) return address;
  for (const hop of forwardedFor.split(',').reverse()) {
    const previousHop = normalizeAddress(hop.trim());
    if (isIP(previousHop) === 0 || isIP(address) === 0 || !proxies.check(address, familyOf(address))) break;
    address = previousHop;
  }
  return address;
}

/** Returns a function that reads the client address of a request. */
export function addressReader(trustedProxies: readonly string[]) {
  const proxies = listNetworks(trustedProxies);
  return ({ socket, headers }: IncomingMessage): string =>
    clientAddress(socket.remoteAddress, headers['x-forwarded-for']?.toString(), proxies);
}

/** Returns a function that reads the client network of a request. */
export function networkReader(trustedProxies: readonly string[]) {
  const addressOf = addressReader(trustedProxies);
  return (request: IncomingMessage): string => networkOf(addressOf(request));
}

/**
 * The unit of rate limiting: an IPv4 address, or the /64 network that an IPv6 client usually owns. Sites own a /48, whose
 * networks one guesser may use in turn.
 */
export function networkOf(address: string, bits: 48 | 64 = 64): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === '' ? [] : tail.split(':');
  const groups = [...first, ...Array(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last];
  return `${groups.slice(0, bits / 16).join(':')}::/${bits}`;
}

/** Accepts an address, or a network such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const maxBits = { 4: 32, 6: 128 }[isIP(address)];
  return maxBits !== undefined && Number(bits ?? maxBits) <= maxBits;
}

export function listNetworks(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

export const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** Dual-stack sockets report IPv4 as `::ffff:192.0.2.1`; link-local addresses carry a zone such as `%eth0`. */
const normalizeAddress = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*/s, '');
