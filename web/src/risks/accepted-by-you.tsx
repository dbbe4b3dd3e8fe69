import { useMe } from '../api/session.ts';

/** Says in whose name a risk is accepted. Nothing for a key of a program, which names the person. */
export function AcceptedByYou() {
  const { user_id, type, name } = useMe();
  if (user_id === null) return null;
  return (
    <p className="quiet">
      Accepted by you
      {type === 'person' && (
        <>
          , <bdi>{name}</bdi>
        </>
      )}
      .
    </p>
  );
}
