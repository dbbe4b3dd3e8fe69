import { basePath } from '../api/client.ts';
import { tabStorage } from '../api/storage.ts';

const item = 'muster-return';
const pathsOfSignIn = ['/sign-in', '/set-up', '/invitation'];

/** The page to show after the sign-in: the one that was asked for, always one of this console. */
export function returnPath(): string {
  const path = location.pathname.slice(basePath.length) || '/';
  if (!pathsOfSignIn.includes(path)) return path + location.search;
  const asked = new URLSearchParams(location.search).get('return_to') ?? tabStorage.getItem(item) ?? '/';
  // Browsers ignore white space, and read a backslash as a slash: `//` would be another host.
  const isInside = /^\/(?![/\\])[^\s\\]*$/.test(asked) && !pathsOfSignIn.includes(asked.split('?')[0] ?? '');
  return isInside ? asked : '/';
}

/** The identity provider returns to the sign-in page after a problem, without the path. */
export const rememberReturnPath = () => tabStorage.setItem(item, returnPath());

export const forgetReturnPath = () => tabStorage.removeItem(item);

/**
 * The address at which the service sends the browser to the identity provider. With `again`, the provider asks even people
 * who are signed in there.
 */
export const providerUrl = (path: string, again = false) =>
  `${basePath}/v1/session/oidc/start?return_to=${encodeURIComponent(path)}${again ? '&again=true' : ''}`;
