import { Link } from 'wouter';
import type { ItemList } from '../api/items.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { withLabels, withoutIds } from '../components/error-text.ts';
import { formatNumber, pluralize } from '../format.ts';
import type { Failure } from './change.ts';
import { nouns } from './kinds.ts';

type Props = {
  kind: ItemList;
  listed: readonly Failure[];
  /** The number of all failures; the service lists the first ones. */
  count: number;
  onClose: () => void;
  onDeselect: () => void;
};

/** The items that could not be changed, each with a link and the reason. */
export const Failures = ({ kind, listed, count, onClose, onDeselect }: Props) => (
  <Dialog title="Nothing was changed" onClose={onClose} wide>
    <div className="dialog-body">
      <p>
        {pluralize(count, nouns[kind])} can't be changed. Fix or deselect {count === 1 ? 'it' : 'them'}, then
        try again.
      </p>
      <ul className="lines">
        {listed.map(({ id, key, detail }) => (
          <li key={id}>
            {key ? <Link href={`/${kind}/${key}`}>{key}</Link> : <span className="key">{id}</span>}
            <span className="grow">{withoutIds(withLabels(detail))}</span>
          </li>
        ))}
      </ul>
      {count > listed.length && <p className="quiet">The first {formatNumber(listed.length)} are shown.</p>}
    </div>
    <footer>
      <Button onPress={onClose}>Close</Button>
      <Button primary onPress={onDeselect}>
        Deselect {formatNumber(listed.length)}
      </Button>
    </footer>
  </Dialog>
);
