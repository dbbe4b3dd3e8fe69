import { type LookupAllOptions, lookup as lookupByDns } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { familyOf, isNetwork, listNetworks } from './addresses.ts';

/** Which servers may get requests to URLs that users choose. Protects the network of the service (SSRF). */
export type Targets = {
  /** The reason why the URL cannot be used; undefined if it can. */
  rejection(url: URL): string | undefined;
  /** Resolves a host for a connection, or fails if one of its addresses must not be reached. */
  lookup: LookupFunction;
};

export type Resolve = (
  host: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: { address: string; family: number }[]) => void,
) => void;

/**
 * Addresses are checked when a connection is made, in the DNS result that the connection uses: a check before that could be
 * evaded by a host that resolves to another address the next time (DNS rebinding).
 */
export function createTargets(allowed: readonly string[], resolve: Resolve = lookupByDns): Targets {
  const networks = listNetworks(allowed.filter(isNetwork));
  const hosts = new Set(allowed.filter((entry) => !isNetwork(entry)).map(normalizeHost));
  const isAllowed = (address: string) => networks.check(address, familyOf(address));
  const canReach = (address: string) => isAllowed(address) || isPublic(address);

  return {
    rejection(url) {
      const host = normalizeHost(url.hostname);
      const isNamed = hosts.has(host) || (isIP(host) !== 0 && isAllowed(host));
      if (url.username !== '' || url.password !== '') return 'The URL must not contain credentials.';
      if (isNamed) return undefined;
      if (url.protocol !== 'https:') return 'The URL must start with https://.';
      return isIP(host) === 0 || canReach(host) ? undefined : notPublic(host);
    },

    lookup(host, options, callback) {
      resolve(host, { ...options, all: true }, (error, addresses) => {
        const [first] = addresses ?? [];
        if (error || !first) return callback(error ?? new Error(`${host} has no address.`), '');
        const isRefused =
          !hosts.has(normalizeHost(host)) && !addresses.every(({ address }) => canReach(address));
        if (isRefused) return callback(Object.assign(new Error(notPublic(host)), { code: refusedCode }), '');
        return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
      });
    },
  };
}

/** The error code of a connection to an address that must not be reached. */
export const refusedCode = 'MUSTER_ADDRESS_REFUSED';

const notPublic = (host: string) =>
  `${host} is not a public address. The operator can allow it with MUSTER_WEBHOOK_ALLOW.`;

/** Without the brackets of an IPv6 address and the final dot of a fully qualified name. */
const normalizeHost = (host: string) => host.toLowerCase().replace(/^\[|\]$|\.$/g, '');

/** The special-purpose registries of IANA: all that is not a public unicast address. */
const isPublic = (address: string) => {
  const family = familyOf(address);
  return family === 'ipv4'
    ? !special.check(address, family)
    : globalIpv6.check(address, family) && !special.check(address, family);
};

/** All other IPv6 addresses are special, also those that contain an IPv4 address. */
const globalIpv6 = new BlockList();
globalIpv6.addSubnet('2000::', 3, 'ipv6');

const special = listNetworks([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]);
