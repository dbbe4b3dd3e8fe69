import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RiskSummary } from '../api/openapi.ts';
import { Bars } from '../components/bars.tsx';
import { Button } from '../components/button.tsx';
import type { Filters } from '../components/filters.tsx';
import { Loaded } from '../components/loading.tsx';
import { pluralize } from '../format.ts';
import { readSummary } from './queries.ts';

const maxShown = 8;

/** How many risks each category and each owner has. Counted when it is opened, because counting reads all risks. */
export function RiskCounts({ filters }: { filters: Filters }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="risk-counts"
      open={isOpen}
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
        // The card around it has such an event of its own.
        event.stopPropagation();
      }}
    >
      <summary>By category and owner</summary>
      {isOpen && <Counts filters={filters} />}
    </details>
  );
}

function Counts({ filters: { sort, ...filters } }: { filters: Filters }) {
  const query = useQuery({
    queryKey: ['risks', 'summary', filters],
    queryFn: () => readSummary(filters),
  });
  const hrefOf = (more: Filters) => `/risks?${new URLSearchParams({ ...filters, ...more })}`;
  return (
    <Loaded query={query}>
      {({ data: { by_category, by_owner } }) => (
        <>
          <h2>Category</h2>
          <TopBars
            bars={by_category.flatMap(({ category, count }) =>
              category === null ? [] : [{ label: category, count, href: hrefOf({ category }) }],
            )}
          />
          <h2>Owner</h2>
          <TopBars
            bars={by_owner.map((owner) => ({
              label: owner.owner_name ?? 'No owner',
              count: owner.count,
              href: hrefOf(ownerFilter(owner)),
            }))}
          />
        </>
      )}
    </Loaded>
  );
}

const ownerFilter = ({ owner_user_id, owner_group_id }: RiskSummary['by_owner'][number]): Filters =>
  owner_user_id ? { owner_user_id } : owner_group_id ? { owner_group_id } : { unowned: 'true' };

function TopBars({ bars }: { bars: { label: string; count: number; href: string }[] }) {
  const [isWhole, setWhole] = useState(false);
  if (bars.length === 0) return <p className="quiet">None</p>;
  const most = bars.toSorted((one, other) => other.count - one.count);
  return (
    <>
      <Bars bars={isWhole ? most : most.slice(0, maxShown)} />
      {most.length > maxShown && (
        <Button small plain onPress={() => setWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `Show ${pluralize(most.length - maxShown, 'other')}`}
        </Button>
      )}
    </>
  );
}
