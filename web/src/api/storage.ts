type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** A storage of the browser. It can be blocked or full: then the page remembers the rest itself, until it is closed. */
function createStorage(open: () => Storage): Store {
  const unstored = new Map<string, string>();
  const attempt = <T>(act: (storage: Storage) => T): T | undefined => {
    try {
      return act(open());
    } catch {
      return undefined;
    }
  };
  return {
    getItem: (key) => unstored.get(key) ?? attempt((storage) => storage.getItem(key)) ?? null,
    setItem(key, value) {
      unstored.set(key, value);
      attempt((storage) => {
        storage.setItem(key, value);
        unstored.delete(key);
      });
    },
    removeItem(key) {
      unstored.delete(key);
      attempt((storage) => storage.removeItem(key));
    },
  };
}

// biome-ignore lint/style/noRestrictedGlobals: the only place
export const browserStorage = createStorage(() => localStorage);

/** Kept until the tab is closed. */
// biome-ignore lint/style/noRestrictedGlobals: the only place
export const tabStorage = createStorage(() => sessionStorage);
