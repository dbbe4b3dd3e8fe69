import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RiskSummary } from '../api/openapi.ts';
import { Bars } from '../components/bars.tsx';
import { Button } from '../components/button.tsx';
import type { Filters } from '../components/filters.tsx';
import { Loaded } from '../components/loading.tsx';
import { capitalize, formatNumber, pluralize } from '../format.ts';
import { readSummary, useCompared } from './queries.ts';

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
  const compared = useCompared(filters);
  const query = useQuery({
    queryKey: ['risks', 'summary', compared],
    queryFn: () => readSummary({ ...compared, top: '200' }),
  });
  const hrefOf = (more: Filters) => `/risks?${new URLSearchParams({ ...filters, ...more })}`;
  return (
    <Loaded query={query}>
      {({ data: { by_category, by_category_rest, by_owner, by_owner_rest } }) => (
        <div className="two-counts">
          <section>
            <h2>Category</h2>
            <TopBars
              bars={by_category.flatMap(({ category, count }) =>
                category === null ? [] : [{ label: capitalize(category), count, href: hrefOf({ category }) }],
              )}
              rest={pluralize(by_category_rest.groups, 'other category', 'other categories')}
              restCount={by_category_rest.count}
            />
          </section>
          <section>
            <h2>Owner</h2>
            <TopBars
              bars={by_owner.map((owner) => ({
                label: owner.owner_name ?? 'No owner',
                count: owner.count,
                href: hrefOf(ownerFilter(owner)),
              }))}
              rest={pluralize(by_owner_rest.groups, 'other owner')}
              restCount={by_owner_rest.count}
            />
          </section>
        </div>
      )}
    </Loaded>
  );
}

const ownerFilter = ({ owner_user_id, owner_group_id }: RiskSummary['by_owner'][number]): Filters =>
  owner_user_id ? { owner_user_id } : owner_group_id ? { owner_group_id } : { unowned: 'true' };

type TopBarsProps = {
  bars: { label: string; count: number; href: string }[];
  /** How many groups the summary leaves out, in words, and how many risks they have. */
  rest: string;
  restCount: number;
};

function TopBars({ bars, rest, restCount }: TopBarsProps) {
  const [isWhole, setWhole] = useState(false);
  if (bars.length === 0) return <p className="quiet">None</p>;
  const most = bars.toSorted((one, other) => other.count - one.count);
  const isBounded = restCount > 0;
  return (
    <>
      <Bars bars={isWhole ? most : most.slice(0, maxShown)} />
      {isBounded && (isWhole || most.length <= maxShown) && (
        <p className="quiet">
          and {rest} with {pluralize(restCount, 'risk')}
        </p>
      )}
      {most.length > maxShown && (
        <Button small plain onPress={() => setWhole(!isWhole)}>
          {isWhole
            ? 'Show fewer'
            : isBounded
              ? `Show the next ${formatNumber(most.length - maxShown)}`
              : `Show ${pluralize(most.length - maxShown, 'other')}`}
        </Button>
      )}
    </>
  );
}
