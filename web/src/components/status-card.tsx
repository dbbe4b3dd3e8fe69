import { type ReactNode, useState } from 'react';
import { ActionButton } from './action-button.tsx';
import { Status } from './badges.tsx';

type Props<Value extends string> = {
  status: Value;
  /** How the status is shown. */
  badge?: ReactNode;
  transitions: readonly Value[];
  labelOf: (to: Value) => string;
  /** Whether a transition needs more input, which `dialog` asks for. */
  needsInput: (to: Value) => boolean;
  dialog: (to: Value, onClose: () => void) => ReactNode;
  changeStatus: (to: Value) => Promise<unknown>;
  children?: ReactNode;
};

/** The status of an item, and a button for each allowed transition. */
export function StatusCard<Value extends string>(props: Props<Value>) {
  const {
    status,
    badge = <Status status={status} />,
    transitions,
    labelOf,
    needsInput,
    dialog,
    changeStatus,
    children,
  } = props;
  const [target, setTarget] = useState<Value | null>(null);
  const start = (to: Value) => (needsInput(to) ? void setTarget(to) : changeStatus(to));
  return (
    <section className="card" aria-labelledby="status">
      <h2 id="status">Status {badge}</h2>
      {transitions.length > 0 && (
        <div className="button-row">
          {transitions.map((to) => (
            <ActionButton key={to} small act={() => start(to) ?? undefined}>
              {labelOf(to)}
            </ActionButton>
          ))}
        </div>
      )}
      {target !== null && dialog(target, () => setTarget(null))}
      {children}
    </section>
  );
}
