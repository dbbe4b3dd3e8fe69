import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';

/**
 * Whom a request comes from: the other end of its connection or, when that is one of our proxies, whom the proxy says
 * it had it from. Anyone can send `X-Forwarded-For`, so it is read from its end, and only as far as proxies wrote it.
 */
export function clientAddress(
  connected: string | undefined,
  forwardedFor: string | undefined,
  proxies: BlockList,
): string {
  let address = plain(connected ?? '');
  if (forwardedFor === undefined) return address;
  for (const hop of forwardedFor.split(',').reverse()) {
    const before = plain(hop.trim());
    if (isIP(before) === 0 || isIP(address) === 0 || !proxies.check(address, familyOf(address))) break;
    address = before;
  }
  return address;
}

/** Reads the network that a request comes from. */
export function networkReader(trustedProxies: readonly string[]) {
  const proxies = listNetworks(trustedProxies);
  return ({ socket, headers }: IncomingMessage): string =>
    networkOf(clientAddress(socket.remoteAddress, headers['x-forwarded-for']?.toString(), proxies));
}

/** What is counted together: whoever has one address of IPv6 has all of its network. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === '' ? [] : tail.split(':');
  const groups = [...first, ...Array(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** Whether a text is an address or a network, such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const most = { 4: 32, 6: 128 }[isIP(address)];
  return most !== undefined && Number(bits ?? most) <= most;
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

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** A socket that takes both kinds shows IPv4 as `::ffff:192.0.2.1`; one of a local link adds `%eth0`. */
const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
