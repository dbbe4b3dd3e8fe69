import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useHasScope } from '../api/session.ts';
import { errorLine } from '../components/error-text.ts';
import { useDebounced } from '../components/use-debounced.ts';
import { isItemKey, keepMatching, type Section, search } from './palette-search.ts';

type Search = {
  sections: readonly Section[];
  isSearching: boolean;
  /** Nothing else is shown before the item with the typed key, so that Enter opens the item. */
  isWaitingForItem: boolean;
  failure?: string | undefined;
};

/** What the service finds for the typed text. */
export function usePaletteSearch(typed: string, isEnabled: boolean): Search {
  const hasScope = useHasScope();
  const q = useDebounced(typed, 120);
  const { data, isFetching, isLoading, isPlaceholderData, error } = useQuery({
    queryKey: ['palette', q],
    queryFn: () => search(q, hasScope),
    enabled: q !== '' && isEnabled,
    placeholderData: keepPreviousData,
  });
  const sections = data?.sections ?? [];
  if (typed === '') return { sections: [], isSearching: false, isWaitingForItem: false };
  // The results are those for the text before.
  if (q !== typed || isPlaceholderData)
    return {
      sections: keepMatching(sections, typed),
      isSearching: true,
      isWaitingForItem: isItemKey(typed),
    };
  return {
    sections,
    isSearching: isFetching,
    isWaitingForItem: isItemKey(typed) && isLoading,
    failure: describeFailure(error, data?.error),
  };
}

function describeFailure(error: Error | null, partial: Error | undefined): string | undefined {
  if (error) return `Couldn't search. ${errorLine(error)}`;
  return partial && `Couldn't search everything. ${errorLine(partial)}`;
}
