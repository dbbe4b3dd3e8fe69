import { api } from '../api/client.ts';
import { useWrite } from '../api/queries.ts';
import { endSessionOn401 } from '../api/session.ts';
import { errorLine } from '../components/error-text.ts';
import { toast } from '../components/toast.tsx';

type Person = { user_id: string; name: string };
type Group = { id: string; name: string };

/** Adds a person to a group, or removes them. Both can be undone. */
export function useMembership() {
  const write = useWrite();
  const params = ({ user_id }: Person, { id }: Group) => ({ params: { path: { id, user_id } } });
  const add = (person: Person, group: Group) =>
    write(api.PUT('/v1/groups/{id}/members/{user_id}', params(person, group)));
  const remove = (person: Person, group: Group) =>
    write(api.DELETE('/v1/groups/{id}/members/{user_id}', params(person, group)));
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
