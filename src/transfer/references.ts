import type { Kysely } from 'kysely';
import { type FieldError, fieldError } from '../core/errors.ts';
import { fold, shortened } from '../core/text.ts';
import type { Tables } from '../database/tables.ts';
import type { Importable } from './importable.ts';
import {
  ambiguousMessage,
  type Kind,
  type Match,
  type Matches,
  matchAll,
  notFoundMessage,
} from './matching.ts';
import type { ParsedRow, Reference } from './parse-rows.ts';

/** A draft with what it names found: `values` has ids, `errors` says what could not be found. */
export type Resolved = ParsedRow & {
  /** What it names may be other rows, which are not there yet: their names, ids or e-mails, folded. */
  waitsFor?: string[];
};

/** What is known of the other rows. */
export type Others = {
  /** Whether a row with this name, id or e-mail is still to come, so that a row may wait for it. */
  hasToCome(text: string): boolean;
  /** The new ids of those that had another in the file: it may come from another service. */
  newIds: ReadonlyMap<string, string>;
};

/** Finds what the rows name, for all of them at once. Drafts are left as they are: a transaction may run twice. */
export async function resolveAll(
  db: Kysely<Tables>,
  importable: Importable,
  drafts: readonly ParsedRow[],
  others: Others,
  seesPeople: boolean,
): Promise<Resolved[]> {
  const texts = new Map<Kind, Set<string>>();
  for (const { references } of drafts) {
    for (const reference of references) {
      for (const { kind } of reference.among) {
        const ofKind = texts.get(kind) ?? new Set();
        for (const text of reference.texts) ofKind.add(text);
        texts.set(kind, ofKind);
      }
    }
  }
  const matches = new Map<Kind, Matches>();
  for (const [kind, ofKind] of texts) {
    const found = await matchAll(db, kind, ofKind, { project_id: importable.project?.id, seesPeople });
    matches.set(kind, found);
    if (kind !== importable.what) continue;
    for (const text of ofKind) {
      const id = others.newIds.get(text);
      if (id !== undefined) found.set(text, [{ id, label: '' }]);
    }
  }
  return drafts.map((draft) => resolve(draft, importable, matches, others));
}

function resolve(
  draft: ParsedRow,
  { what }: Importable,
  matches: Map<Kind, Matches>,
  others: Others,
): Resolved {
  if (draft.references.length === 0) return draft;
  const resolved: Resolved = { ...draft, values: { ...draft.values }, errors: [...draft.errors] };
  const { values, errors } = resolved;
  const labels = new Map<string, string>();

  /** The one thing that a text names; otherwise says why there is none, unless it may come. */
  const find = ({ field, among }: Reference, text: string, isLast: boolean) => {
    const found = among.flatMap(({ field, kind }) =>
      (matches.get(kind)?.get(text) ?? []).map((match) => ({ ...match, field, kind })),
    );
    const [only] = found;
    const isOwnKind = among.some(({ kind }) => kind === what);
    if (isOwnKind && (!only || isByName(only, text)) && others.hasToCome(text))
      resolved.waitsFor = [...(resolved.waitsFor ?? []), fold(text)];
    else if (only && found.length === 1) return only;
    else if (only) errors.push(fieldError(field, 'ambiguous_reference', ambiguousMessage(text, found)));
    else if (isLast)
      errors.push(
        unmatched(
          field,
          among.map(({ kind }) => kind),
          text,
        ),
      );
    return undefined;
  };

  const byId = draft.references.filter(({ isName }) => !isName);
  const byName = draft.references.filter(({ isName }) => isName);
  for (const reference of byId) {
    const { field, texts, isList } = reference;
    const called = byName.some(
      ({ among, texts }) => texts.length > 0 && among.some((other) => other.field === field),
    );
    const found = texts.map((text) => find(reference, text, !called));
    values[field] = isList
      ? [...new Set(found.map((match) => match?.id).filter((id) => id))]
      : (found[0]?.id ?? null);
    if (found[0]) labels.set(field, found[0].label);
  }
  for (const reference of byName) {
    const [name] = reference.texts;
    const said = reference.among.find(({ field }) => labels.has(field));
    if (name === undefined) {
      for (const { field } of reference.among) values[field] ??= null;
    } else if (said) {
      const label = labels.get(said.field) ?? '';
      if (fold(label) !== fold(name)) errors.push(contradiction(reference.field, said.field, label, name));
    } else {
      const found = find(reference, name, true);
      for (const { field } of reference.among) values[field] = field === found?.field ? found.id : null;
    }
  }
  return resolved;
}

/** Ids, external ids and e-mails name one person for good; of a name there may be another among the rows to come. */
const isByName = (match: Match | undefined, text: string) =>
  match !== undefined && fold(match.label) === fold(text);

const unmatched = (field: string, kinds: readonly Kind[], text: string): FieldError =>
  fieldError(field, 'unknown_reference', notFoundMessage(kinds, text));

const contradiction = (field: string, said: string, label: string, name: string): FieldError =>
  fieldError(
    field,
    'contradiction',
    `\`${said}\` is ${label}, but this says “${shortened(name)}”. Change \`${said}\`, or empty it to go by the name.`,
  );
