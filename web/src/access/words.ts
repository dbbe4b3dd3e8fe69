import type { Access } from '../api/openapi.ts';

export const describeSource = (source: Access['source']) =>
  source === 'oidc' ? 'From the identity provider' : 'Manual';

const ways: Record<string, string> = {
  password: 'Password',
  passkey: 'Passkey',
  oidc: 'Identity provider',
  invitation: 'Invitation link',
  link: 'Sign-in link',
  key: 'API key',
};

export const describeWay = (way: string) => ways[way] ?? way;

/** `Password, passkey`. */
export const describeWays = (held: Access['ways']) =>
  held
    .map(describeWay)
    .map((way, index) => (index === 0 ? way : way.charAt(0).toLowerCase() + way.slice(1)))
    .join(', ');
