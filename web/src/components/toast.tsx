import { useEffect, useSyncExternalStore } from 'react';
import { Button } from './button.tsx';

type Toast = { id: number; text: string; undo?: () => Promise<unknown> };

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const dismiss = (id: number) => set(toasts.filter((toast) => toast.id !== id));

/** Says that something is done, and, where it can be, how to take it back. */
export function toast(text: string, undo?: () => Promise<unknown>): void {
  // Many requests may fail at once, for one reason.
  if (toasts.some((shown) => shown.text === text && !undo)) return;
  lastId += 1;
  set([...toasts.slice(-2), { id: lastId, text, ...(undo && { undo }) }]);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function ToastRegion() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status">
      {shown.map((one) => (
        <ToastBox key={one.id} {...one} />
      ))}
    </div>
  );
}

function ToastBox({ id, text, undo }: Toast) {
  useEffect(() => {
    // What can be undone stays until it is dismissed or pushed out by others.
    const timer = undo ? undefined : setTimeout(() => dismiss(id), 6000);
    return () => clearTimeout(timer);
  }, [id, undo]);
  const takeBack = async () => {
    dismiss(id);
    await undo?.().then(
      () => toast('Undone.'),
      (error: Error) => toast(error.message),
    );
  };
  return (
    <div className="toast">
      <span>{text}</span>
      {undo && (
        <Button small plain onPress={takeBack}>
          Undo
        </Button>
      )}
      <Button small plain icon="close" aria-label="Dismiss" onPress={() => dismiss(id)} />
    </div>
  );
}
