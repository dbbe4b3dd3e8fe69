import { createStore } from '../api/store.ts';

/** The token of a link that was opened: `/sign-in#msl_…` or `/invitation#msl_…`. */
const token = createStore<string | undefined>(undefined);

/** Takes the token out of the address bar, where others could read it, and out of the browser's history. */
function takeToken(): void {
  const found = /^#(msl_\w+)$/.exec(location.hash)?.[1];
  if (found === undefined) return;
  token.set(found);
  history.replaceState(history.state, '', location.pathname + location.search);
}

/** Called before the first page is shown. */
export function watchLinkToken(): void {
  takeToken();
  // Another link that is opened in the same tab loads no page.
  addEventListener('hashchange', takeToken);
}

export const useLinkToken = token.use;

export const forgetLinkToken = () => token.set(undefined);
