import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { View as SharedView } from '../api/openapi.ts';
import { maxLimit } from '../api/pages.ts';
import { useHasScope, useIsLimited } from '../api/session.ts';
import type { Filters } from '../components/filters.tsx';
import {
  deleteView,
  queryOf,
  renameView,
  saveView,
  usePrivateViews,
  type View,
  type ViewList,
} from './store.ts';

/** A view of this browser, or one that everyone shares. */
export type AnyView = View | SharedView;

export const isShared = (view: AnyView): view is SharedView => 'version' in view;

/** The private and the shared views of a list by name. Without a connection only the private ones. */
export function useViews(list: ViewList): AnyView[] {
  const { data: shared = [] } = useQuery({
    queryKey: ['views', list],
    queryFn: async () => (await dataOrThrow(api.GET('/v1/views', { params: { query: { list } } }))).data,
  });
  const own = usePrivateViews().filter((view) => view.list === list);
  return [...own, ...shared].toSorted((one, other) => one.name.localeCompare(other.name));
}

/** The private and the shared views of all lists. */
export function useAllViews(): AnyView[] {
  const { data: shared = [] } = useQuery({
    queryKey: ['views'],
    queryFn: async () =>
      (await dataOrThrow(api.GET('/v1/views', { params: { query: { limit: maxLimit } } }))).data,
  });
  return [...usePrivateViews(), ...shared];
}

/** Whether the key in use can change the shared views of a list. */
export function useCanShare(list: ViewList): boolean {
  const hasScope = useHasScope();
  const isLimited = useIsLimited();
  return !isLimited && hasScope(list === 'personnel' ? 'personnel.manage' : 'projects.manage');
}

const one = ({ id }: SharedView) => ({ params: { path: { id } } });

export function useViewActions(list: ViewList) {
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: ['views'] });
  const share = async (body: { list: ViewList; name: string; query: string }) => {
    await dataOrThrow(api.POST('/v1/views', { body }));
    await refresh();
  };
  return {
    async save(name: string, filters: Filters, shared: boolean) {
      if (shared) await share({ list, name, query: queryOf(filters) });
      else saveView(list, name, filters);
    },
    async rename(view: AnyView, name: string) {
      if (!isShared(view)) return renameView(view, name);
      await dataOrThrow(api.PATCH('/v1/views/{id}', { ...one(view), ...ifMatch(view), body: { name } }));
      await refresh();
    },
    /** Returns a function that restores the view. */
    async remove(view: AnyView): Promise<() => Promise<void>> {
      if (!isShared(view)) {
        const restore = deleteView(view);
        return async () => restore();
      }
      await dataOrThrow(api.DELETE('/v1/views/{id}', one(view)));
      await refresh();
      const { name, query } = view;
      return () => share({ list, name, query });
    },
  };
}
