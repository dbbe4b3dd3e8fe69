import { type ReactNode, useState } from 'react';
import { Status } from './badges.tsx';
import { Button } from './button.tsx';
import { toast } from './toast.tsx';

type Props<State extends string> = {
  state: State;
  moves: Record<State, readonly State[]>;
  labels: Record<State, string>;
  /** Whether more must be said than where to. */
  needsMore: (to: State) => boolean;
  dialog: (to: State, onClose: () => void) => ReactNode;
  move: (to: State) => Promise<unknown>;
  children?: ReactNode;
};

/** The state that a thing is in, and those it may go to from there, as buttons; what needs more asks for it. */
export function StateCard<State extends string>(props: Props<State>) {
  const { state, moves, labels, needsMore, dialog, move, children } = props;
  const [target, setTarget] = useState<State | null>(null);
  const go = (to: State) =>
    needsMore(to) ? setTarget(to) : move(to).catch((error: Error) => toast(error.message));
  return (
    <section className="card" aria-labelledby="state">
      <h2 id="state">
        State <Status status={state} />
      </h2>
      <div className="moves">
        {moves[state].map((to) => (
          <Button key={to} small onPress={() => go(to)}>
            {labels[to]}
          </Button>
        ))}
      </div>
      {target !== null && dialog(target, () => setTarget(null))}
      {children}
    </section>
  );
}
