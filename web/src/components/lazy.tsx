import { type ComponentType, type ReactNode, useEffect, useState } from 'react';

/**
 * A component that is loaded when it is first shown, or by `load` before. React's own `lazy` needs `Suspense`, which
 * holds back for 300 ms what has arrived after it showed that something is awaited.
 */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  meanwhile: ReactNode = null,
) {
  let Loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const start = () => {
    loading ??= load().then(
      (component) => {
        Loaded = component;
      },
      (error) => {
        // The next who wants it tries again.
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
  function Later(props: Props) {
    const [state, setState] = useState<{ error?: unknown }>({});
    useEffect(() => {
      if (!Loaded)
        start().then(
          () => setState({}),
          (error) => setState({ error }),
        );
    }, []);
    if (state.error !== undefined) throw state.error;
    return Loaded ? <Loaded {...props} /> : meanwhile;
  }
  return Object.assign(Later, { load: start });
}
