import { createStore } from '../api/store.ts';

type Person = { id: string; name: string };

/** The person who was chosen last in a form, since the page was loaded. */
const last = createStore<Person | undefined>(undefined);

export const useLastPerson = last.use;

export const rememberPerson = (person: Person) => last.set(person);
