import { useSyncExternalStore } from 'react';

/** As in table.css. Paper is as narrow, but is no phone. */
const phone = matchMedia('screen and (max-width: 52rem)');

/** Whether the screen is too narrow for most columns. */
export const useIsPhone = () =>
  useSyncExternalStore(
    (onChange) => {
      phone.addEventListener('change', onChange);
      return () => phone.removeEventListener('change', onChange);
    },
    () => phone.matches,
  );
