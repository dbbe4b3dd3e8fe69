import { api, dataOrThrow } from '../api/client.ts';
import { useRefresh } from '../api/queries.ts';
import { endSessionOn401 } from '../api/session.ts';
import { errorLine } from '../components/error-text.ts';
import { toast } from '../components/toast.tsx';

type Person = { user_id: string; name: string };
type Group = { id: string; name: string };

/** Adds a person to a group, or removes them. Both can be undone. */
export function useMembership() {
  const refresh = useRefresh();
  const params = ({ user_id }: Person, { id }: Group) => ({ params: { path: { id, user_id } } });
  const add = async (person: Person, group: Group) => {
    await dataOrThrow(api.PUT('/v1/groups/{id}/members/{user_id}', params(person, group)));
    await refresh();
  };
  const remove = async (person: Person, group: Group) => {
    await dataOrThrow(api.DELETE('/v1/groups/{id}/members/{user_id}', params(person, group)));
    await refresh();
  };
  return {
    add: (person: Person, group: Group) =>
      add(person, group).then(
        () => toast(`Added ${person.name} to ${group.name}`, () => remove(person, group)),
        (error: Error) => {
          endSessionOn401(error);
          toast(errorLine(error));
        },
      ),
    remove: async (person: Person, group: Group) => {
      await remove(person, group);
      toast(`Removed ${person.name} from ${group.name}`, () => add(person, group));
    },
  };
}
