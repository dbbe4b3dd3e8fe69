import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { isReachable } from '../api/connection.ts';
import { ErrorNotice } from './error-notice.tsx';

/** The service has other files since an upgrade. */
const newVersion = new Error('A new version is there. Reload the page to use it.');

const isGone = (url: string) =>
  fetch(url, { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(5_000) }).then(
    ({ status }) => status === 404,
    () => false,
  );

type PropsOf<Component> = Component extends ComponentType<infer Props extends object> ? Props : never;

/**
 * A component that loads on first render, or earlier with `load`. React's own `lazy` needs `Suspense`, which holds
 * loaded content back for 300 ms once it has shown a fallback.
 */
export function lazy<Module, Name extends keyof Module>(
  importModule: () => Promise<Module>,
  name: Name,
  fallback: ReactNode | ((props: never) => ReactNode) = null,
) {
  type Props = PropsOf<Module[Name]>;
  let Loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  let failedUrl: string | undefined;
  let attempts = 0;
  /** Browsers remember that a module failed to load, but not for another URL. */
  const importAgain = (url: string): Promise<Module> => {
    attempts += 1;
    return import(/* @vite-ignore */ `${url}?attempt=${attempts}`);
  };
  const load = () => {
    loading ??= (failedUrl ? importAgain(failedUrl) : importModule()).then(
      (module) => {
        Loaded = module[name] as ComponentType<Props>;
      },
      async (error) => {
        // Lets the next render try again.
        loading = undefined;
        // Chrome and Firefox report the URL. Safari does not, but does not remember the failure either.
        failedUrl ??= /https?:\S+\.js/.exec(String(error))?.[0];
        throw failedUrl && (await isGone(failedUrl)) ? newVersion : error;
      },
    );
    return loading;
  };
  function Lazy(props: Props) {
    const [state, setState] = useState<{ error?: unknown }>({});
    const show = () => setState({});
    const showError = (error: unknown) => setState({ error });
    // biome-ignore lint/correctness/useExhaustiveDependencies: only the first render loads it
    useEffect(() => {
      if (!Loaded) load().then(show, showError);
    }, []);
    const isOld = state.error === newVersion;
    const retry = () =>
      load().then(show, async (error) => {
        // A new version of the service has other files, which only a reload finds.
        if (error !== newVersion && (await isReachable())) location.reload();
        else showError(error);
      });
    useEffect(() => {
      if (state.error === undefined || isOld) return;
      addEventListener('online', retry);
      return () => removeEventListener('online', retry);
    });
    if (state.error !== undefined) {
      const reload = () => location.reload();
      return (
        <ErrorNotice
          error={state.error}
          retry={isOld ? reload : retry}
          action={isOld ? 'Reload' : 'Try again'}
        />
      );
    }
    if (Loaded) return <Loaded {...props} />;
    return typeof fallback === 'function' ? fallback(props as never) : fallback;
  }
  return Object.assign(Lazy, { load });
}
