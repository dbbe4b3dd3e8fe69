import type { Kysely } from 'kysely';
import { type FieldError, fieldError } from '../../core/errors.ts';
import { fold, joinWords, shortened } from '../../core/text.ts';
import type { Tables } from '../../store/tables.ts';
import type { Importable, ReferenceKind } from '../importable.ts';
import type { ParsedRow, Reference } from '../parse-rows.ts';
import { findMatches, type Match, type Matches, peopleIn } from './match.ts';

/** A row whose references are replaced by ids in `values`, or reported in `errors`. */
export type Resolved = ParsedRow & {
  /** The folded names, ids or emails of rows in the same file that must be imported first. */
  waitsFor?: string[];
};

/** The other rows of the file. */
type OtherRows = {
  /** Whether a row with this name, id or email is not imported yet. */
  isPending(text: string): boolean;
  /** Created ids by the id in the file, which can be an export of another Muster service. */
  newIds: ReadonlyMap<string, string>;
};

/** Resolves the references of all rows together. Does not modify the rows, because a transaction can be retried. */
export async function resolveReferences(
  db: Kysely<Tables>,
  importable: Importable,
  rows: readonly ParsedRow[],
  otherRows: OtherRows,
  seesPeople: boolean,
): Promise<Resolved[]> {
  const scope = { project_id: importable.project?.id, seesPeople };
  const texts = new Map<ReferenceKind, Set<string>>();
  for (const { references } of rows) {
    for (const reference of references) {
      for (const { kind } of reference.targets) {
        const ofKind = texts.get(kind) ?? new Set();
        for (const text of reference.texts) ofKind.add(text);
        texts.set(kind, ofKind);
      }
    }
  }
  const matches = new Map<ReferenceKind, Matches>();
  for (const [kind, ofKind] of texts) {
    const found = await findMatches(db, kind, ofKind, scope);
    matches.set(kind, found);
    if (kind !== importable.what) continue;
    for (const text of ofKind) {
      const id = otherRows.newIds.get(text);
      if (id !== undefined) found.set(text, [{ id, label: '' }]);
    }
  }
  return rows.map((row) => resolve(row, importable, matches, otherRows, seesPeople));
}

function resolve(
  row: ParsedRow,
  { what }: Importable,
  matches: Map<ReferenceKind, Matches>,
  otherRows: OtherRows,
  seesPeople: boolean,
): Resolved {
  if (row.references.length === 0) return row;
  const resolved: Resolved = {
    ...row,
    values: { ...row.values },
    errors: [...row.errors],
    warnings: [...row.warnings],
  };
  const { values, errors, warnings } = resolved;
  const labels = new Map<string, string>();

  const matchesOf = ({ targets }: Reference, text: string) =>
    targets.flatMap(({ field, kind }) =>
      (matches.get(kind)?.get(text) ?? []).map((match) => ({ ...match, field, kind })),
    );

  /** The people that a cell lists, if nothing is found for the cell as a whole. */
  const textsIn = (reference: Reference, text: string): string[] => {
    const isOfPeople = reference.targets.some(({ kind }) => kind === 'person');
    return isOfPeople && matchesOf(reference, text).length === 0 && !otherRows.isPending(text)
      ? peopleIn(text)
      : [text];
  };

  /** The only match of a text. Otherwise adds an error, or waits for a pending row. */
  const findOnly = (reference: Reference, text: string, isRequired: boolean) => {
    const { field, targets } = reference;
    const found = matchesOf(reference, text);
    const [only] = found;
    const isOwnKind = targets.some(({ kind }) => kind === what);
    if (isOwnKind && (!only || isByName(only, text)) && otherRows.isPending(text))
      resolved.waitsFor = [...(resolved.waitsFor ?? []), fold(text)];
    else if (only && found.length === 1) {
      if (only.unused) warnings.push(notUsed(field, only.unused, `This is read as ${only.label}`));
      return only;
    } else if (only) errors.push(ambiguous(field, text, found, seesPeople));
    else if (isRequired) errors.push(unmatched(field, text, targets, seesPeople));
    return undefined;
  };

  /** The only match of a text for a field that holds one. Of several people in a cell, the first. */
  const findFirst = (reference: Reference, text: string, isRequired: boolean) => {
    const [first = text, ...others] = textsIn(reference, text);
    // An error about a cell that lists nobody names all of it.
    const isListed = others.length > 0 && matchesOf(reference, first).length > 0;
    const found = findOnly(reference, isListed ? first : text, isRequired);
    if (found && isListed)
      warnings.push(notUsed(reference.field, others.join(', '), `This holds one person, ${found.label}`));
    return found;
  };

  const byId = row.references.filter(({ isName }) => !isName);
  const byName = row.references.filter(({ isName }) => isName);
  for (const reference of byId) {
    const { field, texts, isList } = reference;
    const hasName = byName.some(
      ({ targets, texts }) => texts.length > 0 && targets.some((target) => target.field === field),
    );
    const found = isList
      ? texts.flatMap((text) => textsIn(reference, text)).map((text) => findOnly(reference, text, true))
      : texts.map((text) => findFirst(reference, text, !hasName));
    // The ids of another service are useless here, but the names beside them are not.
    if (hasName && texts[0] !== undefined && !found[0] && errors.length === row.errors.length)
      warnings.push(notUsed(field, texts[0], 'Nothing here has this ID, so the name is used'));
    values[field] = isList
      ? [...new Set(found.map((match) => match?.id).filter((id) => id))]
      : (found[0]?.id ?? null);
    if (found[0]) labels.set(field, found[0].label);
  }
  for (const reference of byName) {
    const [name] = reference.texts;
    const byIdTarget = reference.targets.find(({ field }) => labels.has(field));
    if (name === undefined) {
      for (const { field } of reference.targets) values[field] ??= null;
    } else if (byIdTarget) {
      const label = labels.get(byIdTarget.field) ?? '';
      if (fold(label) !== fold(name))
        errors.push(contradiction(reference.field, byIdTarget.field, label, name));
    } else {
      const found = findFirst(reference, name, true);
      for (const { field } of reference.targets) values[field] = field === found?.field ? found.id : null;
    }
  }
  return resolved;
}

/** A name, unlike an id or email, can also belong to a row that is still pending. */
const isByName = (match: Match | undefined, text: string) =>
  match !== undefined && fold(match.label) === fold(text);

const notUsed = (field: string, unused: string, why: string): FieldError =>
  fieldError(field, 'not_used', `${why}. “${shortened(unused.trim())}” was not used.`);

const contradiction = (field: string, idField: string, label: string, name: string): FieldError =>
  fieldError(
    field,
    'contradiction',
    `\`${idField}\` is ${label}, but this is “${shortened(name)}”. Change \`${idField}\`, or clear it to use the name.`,
  );

/** Keys that may not read personnel do not see email addresses, external IDs and departments of people and groups. */
const lookupHints = (seesPeople: boolean): Record<ReferenceKind, string> => ({
  person: seesPeople ? 'name, email address, external ID or user ID' : 'name or user ID',
  group: seesPeople ? 'name, external ID or ID' : 'name or ID',
  risk: 'ID, key or external ID, in this project',
  issue: 'ID, key or external ID, in this project',
});

function unmatched(field: string, text: string, targets: Reference['targets'], seesPeople: boolean) {
  const kinds = targets.map(({ kind }) => kind);
  const hints = kinds.map((kind) => `the ${kind}’s ${lookupHints(seesPeople)[kind]}`);
  const detail = `No ${kinds.join(' or ')} matches “${shortened(text)}”. Use ${hints.join('; or ')}.`;
  return fieldError(field, 'unknown_reference', detail);
}

function ambiguous(field: string, text: string, matches: readonly Match[], seesPeople: boolean) {
  const found = matches.map(({ id, label, detail }) =>
    seesPeople && detail ? `${label}, ${detail} (${id})` : `${label} (${id})`,
  );
  const detail =
    `“${shortened(text)}” matches several: ${joinWords(found)}. ` +
    `Use the ${seesPeople ? 'email address, external ID or ID' : 'ID'} of the right one.`;
  return fieldError(field, 'ambiguous_reference', detail);
}
