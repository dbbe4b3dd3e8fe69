import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { ErrorNotice } from './error-notice.tsx';

/**
 * A component that loads on first render, or earlier with `load`. React's own `lazy` needs `Suspense`, which holds
 * loaded content back for 300 ms once it has shown a fallback.
 */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  fallback: ReactNode | ((props: Props) => ReactNode) = null,
) {
  let Loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const start = () => {
    loading ??= load().then(
      (component) => {
        Loaded = component;
      },
      (error) => {
        // Lets the next render try again.
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
  function Lazy(props: Props) {
    const [state, setState] = useState<{ error?: unknown }>({});
    useEffect(() => {
      if (!Loaded)
        start().then(
          () => setState({}),
          (error) => setState({ error }),
        );
    }, []);
    if (state.error !== undefined) return <ErrorNotice error={state.error} retry={() => location.reload()} />;
    if (Loaded) return <Loaded {...props} />;
    return typeof fallback === 'function' ? fallback(props) : fallback;
  }
  return Object.assign(Lazy, { load: start });
}
