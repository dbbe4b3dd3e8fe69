import { Link } from 'wouter';
import type { ItemList } from '../api/items.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { formatNumber, pluralize } from '../format.ts';
import { whyNot } from './change.ts';
import { nouns } from './kinds.ts';
import type { BulkChange } from './use-bulk-change.ts';

type Props = { kind: ItemList; change: BulkChange; deselect: (ids: readonly string[]) => void };

/** The items that the last change was refused for, each with a link and the reason, until it is closed. */
export function Failures({ kind, change: { failures, clearFailures }, deselect }: Props) {
  if (!failures) return null;
  const { listed, count } = failures;
  const deselectListed = () => {
    clearFailures();
    deselect(listed.map(({ id }) => id));
  };
  return (
    <Dialog title="Nothing was changed" onClose={clearFailures} wide>
      <div className="dialog-body">
        <p>
          {pluralize(count, nouns[kind])} can't be changed. Fix or deselect {count === 1 ? 'it' : 'them'},
          then try again.
        </p>
        <ul className="lines">
          {listed.map((failure) => {
            const { id, key } = failure;
            return (
              <li key={id}>
                {key ? <Link href={`/${kind}/${key}`}>{key}</Link> : <span className="key">{id}</span>}
                <span className="grow">{whyNot(failure)}</span>
              </li>
            );
          })}
        </ul>
        {count > listed.length && <p className="quiet">The first {formatNumber(listed.length)} are shown.</p>}
      </div>
      <footer>
        <Button onPress={clearFailures}>Close</Button>
        <Button primary onPress={deselectListed}>
          Deselect {formatNumber(listed.length)}
        </Button>
      </footer>
    </Dialog>
  );
}
