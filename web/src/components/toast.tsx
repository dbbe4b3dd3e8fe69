import { useEffect, useState, useSyncExternalStore } from 'react';
import { Button } from './button.tsx';

type Toast = { id: number; text: string; undo?: () => Promise<unknown> };

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function setToasts(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const dismiss = (id: number) => setToasts(toasts.filter((toast) => toast.id !== id));

/** Shows a short message, with an Undo button when the action can be undone. */
export function toast(text: string, undo?: () => Promise<unknown>): void {
  // Several requests can fail at once with the same message.
  if (toasts.some((one) => one.text === text && !undo)) return;
  lastId += 1;
  setToasts([...toasts.slice(-2), { id: lastId, text, ...(undo && { undo }) }]);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function ToastRegion() {
  const current = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status">
      {current.map((one) => (
        <ToastBox key={one.id} {...one} />
      ))}
    </div>
  );
}

function ToastBox({ id, text, undo }: Toast) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => dismiss(id), undo ? 15_000 : 6000);
    return () => clearTimeout(timer);
  }, [id, undo, isHeld]);
  const runUndo = async () => {
    dismiss(id);
    await undo?.().then(
      () => toast('Undone'),
      (error: Error) => toast(error.message),
    );
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it stays while the pointer or the focus is in it
    <div
      className="toast"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span>{text}</span>
      {undo && (
        <Button small plain onPress={runUndo}>
          Undo
        </Button>
      )}
      <Button small plain icon="close" aria-label="Dismiss" onPress={() => dismiss(id)} />
    </div>
  );
}
