import type { Kysely } from 'kysely';
import { type FieldError, fieldError, Problem } from '../../core/errors.ts';
import { fold, joinWords, shortened } from '../../core/text.ts';
import type { Tables } from '../../store/tables.ts';
import type { Importable, ReferenceKind } from '../importable.ts';
import type { ParsedRow, Reference } from '../parse-rows.ts';
import { findMatches, isSameName, type Match, type Matches } from './match.ts';
import {
  commonName,
  isNobody,
  type PeoplePolicy,
  peopleIn,
  placeholderOf,
  separatePeople,
  type UnknownPerson,
} from './people.ts';

/** A row whose references are replaced by ids in `values`, or reported in `errors`. */
export type Resolved = ParsedRow & {
  /** The folded names, ids or emails of rows in the same file that must be imported first. */
  waitsFor?: string[];
  /** The texts that matched nobody before the import. */
  unknownPeople?: UnknownPerson[];
  /** The texts that say that there is nobody, such as `TBD`. */
  nobody?: { field: string; text: string }[];
};

/** The other rows of the file. */
type OtherRows = {
  /** Whether a row with this name, id or email is not imported yet. */
  isPending(text: string): boolean;
  /** The line of a row with this name, id or email that failed. */
  failedLine(text: string): number | undefined;
  /** Whether a row may wait for one that is not imported yet: not if that waits for this one. */
  mayWait: boolean;
  /** Created ids by the id in the file, which can be an export of another Muster service. */
  newIds: ReadonlyMap<string, string>;
};

/** How people are found, and what happens to texts that match nobody. */
export type PeopleLookup = {
  seesPeople: boolean;
  /** What happens to this text if it matches nobody. */
  policyFor(text: string): PeoplePolicy;
  /** Whether this import created the person as a placeholder. */
  isPlaceholder(user_id: string): boolean;
  /** Creates a placeholder for each text that has none. Returns an id or a problem for each text. */
  createPlaceholders(texts: readonly string[]): Promise<Map<string, string | Problem>>;
};

/** Resolves the references of all rows together. Does not modify the rows, because a transaction can be retried. */
export async function resolveReferences(
  db: Kysely<Tables>,
  importable: Importable,
  rows: readonly ParsedRow[],
  otherRows: OtherRows,
  people: PeopleLookup,
): Promise<Resolved[]> {
  const scope = { project_id: importable.project?.id, seesPeople: people.seesPeople };
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
  const problems = new Map<string, Problem>();
  const resolveRow = (row: ParsedRow) => resolve(row, importable, { matches, problems }, otherRows, people);
  const resolved = rows.map(resolveRow);
  const isOfPlaceholders = ({ errors, waitsFor, unknownPeople }: Resolved) =>
    errors.length === 0 && !waitsFor && unknownPeople?.some(isNeeded);
  const isNeeded = ({ text, user_id }: UnknownPerson) => !user_id && people.policyFor(text) === 'create';
  const unknown = resolved.flatMap((row) => (isOfPlaceholders(row) ? (row.unknownPeople ?? []) : []));
  const needed = unknown.filter(isNeeded).map(({ text }) => text);
  if (needed.length === 0) return resolved;
  for (const [text, created] of await people.createPlaceholders([...new Set(needed)])) {
    if (created instanceof Problem) problems.set(text, created);
    else matches.get('person')?.set(text, [{ id: created, label: text }]);
  }
  return rows.map((row, i) => (resolved[i]?.unknownPeople ? resolveRow(row) : (resolved[i] as Resolved)));
}

/** What was found for the texts of all rows, and why no placeholder could be created for some. */
type Found = { matches: Map<ReferenceKind, Matches>; problems: ReadonlyMap<string, Problem> };

function resolve(
  row: ParsedRow,
  { what }: Importable,
  { matches, problems }: Found,
  otherRows: OtherRows,
  { policyFor, seesPeople, isPlaceholder }: PeopleLookup,
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
  const leftEmpty = new Set<Reference>();

  const matchesOf = ({ targets }: Reference, text: string) =>
    targets.flatMap(({ field, kind }) =>
      (matches.get(kind)?.get(text) ?? []).map((match) => ({ ...match, field, kind })),
    );

  /** The keys by which another row of the file can have this person or resource. */
  const keysInFile = ({ targets }: Reference, text: string): string[] => {
    if (!targets.some(({ kind }) => kind === what)) return [];
    const { name, email } = what === 'person' ? placeholderOf(text) : { name: commonName(text) };
    return [text, name, email ?? ''].filter((key) => key !== '');
  };

  /** The key by which a row of the file that is not imported yet has this person or resource. */
  const pendingKey = (reference: Reference, text: string): string | undefined =>
    otherRows.mayWait ? keysInFile(reference, text).find(otherRows.isPending) : undefined;

  const isKnown = (reference: Reference, text: string) =>
    matchesOf(reference, text).length > 0 || pendingKey(reference, text) !== undefined;

  /** The people that a cell lists, if nothing is found for the cell as a whole; without the words for nobody. */
  const textsIn = (reference: Reference, text: string): string[] => {
    const { field, targets, isTable } = reference;
    if (!targets.some(({ kind }) => kind === 'person') || isKnown(reference, text)) return [text];
    const parts = peopleIn(text);
    const isList = parts.some((part) => isKnown(reference, part));
    const isSomebody = (part: string) => !isTable || isKnown(reference, part) || !isNobody(part);
    const all = isTable && isNobody(text) ? [text] : isList ? parts : separatePeople(text);
    const nobody = all.filter((part) => !isSomebody(part)).map((text) => ({ field, text }));
    if (nobody.length > 0) resolved.nobody = [...(resolved.nobody ?? []), ...nobody];
    return all.filter(isSomebody);
  };

  const unknownPeople: UnknownPerson[] = [];

  /** Handles a text that matches nothing. `shown` is what an error names: the text, or the cell that contains it. */
  const rejectUnknown = (reference: Reference, text: string, shown: string) => {
    const { field, targets } = reference;
    const isOfPeople = targets.some(({ kind }) => kind === 'person');
    const problem = problems.get(text);
    const policy = policyFor(text);
    // Whoever has a row in the file is not unknown: a placeholder would be the same person a second time.
    const keys = keysInFile(reference, text);
    const line = keys.map(otherRows.failedLine).find((line) => line !== undefined);
    const isInFile = line !== undefined || keys.some(otherRows.isPending);
    if (isInFile && !(isOfPeople && policy === 'leave_empty')) {
      errors.push(dependsOn(field, text, line));
      return;
    }
    if (isOfPeople) unknownPeople.push({ field, text });
    if (!isOfPeople || policy === 'error') errors.push(unmatched(field, shown, targets, seesPeople));
    else if (problem) errors.push(notCreated(field, text, problem));
    else if (policy === 'leave_empty') {
      warnings.push(notFound(field, text));
      leftEmpty.add(reference);
    }
  };

  /** The only match of a text. Otherwise adds an error, or waits for a pending row. */
  const findOnly = (reference: Reference, text: string, isRequired: boolean, shown = text) => {
    const { field } = reference;
    const found = matchesOf(reference, text);
    const [only] = found;
    const pending = !only || isByName(only, text) ? pendingKey(reference, text) : undefined;
    if (pending !== undefined) resolved.waitsFor = [...(resolved.waitsFor ?? []), fold(pending)];
    else if (only && found.length === 1) {
      if (only.stated && !isSameName(only.stated, only.label)) errors.push(otherName(field, text, only));
      if (only.unused) warnings.push(notUsed(field, only.unused, `This is read as ${only.label}`));
      if (only.kind === 'person' && isPlaceholder(only.id))
        unknownPeople.push({ field, text, user_id: only.id });
      return only;
    } else if (only) errors.push(ambiguous(field, text, found, seesPeople));
    else if (isRequired) rejectUnknown(reference, text, shown);
    return undefined;
  };

  /** The only match of a text for a field that holds one. Of several people in a cell, the first. */
  const findFirst = (reference: Reference, text: string, isRequired: boolean) => {
    const people = textsIn(reference, text);
    const isLeftEmpty = people[0] !== undefined && policyFor(people[0]) === 'leave_empty';
    const known = isLeftEmpty ? people.find((one) => isKnown(reference, one)) : undefined;
    const first = known ?? people[0];
    if (first === undefined) return undefined;
    // An error about a cell whose first person is unknown names all of the cell.
    const found = findOnly(reference, first, isRequired, isKnown(reference, first) ? first : text);
    const others = people.filter((one) => one !== first);
    if (found && others.length > 0)
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
    // A text that was left out changes nothing of an existing row.
    values[field] = isList
      ? [...new Set(found.map((match) => match?.id).filter((id) => id))]
      : (found[0]?.id ?? (leftEmpty.has(reference) ? undefined : null));
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
      const none = leftEmpty.has(reference) ? undefined : null;
      for (const { field } of reference.targets) values[field] = field === found?.field ? found.id : none;
    }
  }
  return {
    ...resolved,
    errors: shortList(errors),
    warnings: shortList(warnings),
    ...(unknownPeople.length > 0 && { unknownPeople }),
  };
}

/** The number of errors, and of warnings, that are reported for a row. Its cells can name a thousand people. */
const maxReported = 20;

function shortList(all: readonly FieldError[]): FieldError[] {
  const [first, ...others] = all.slice(maxReported);
  if (!first || others.length === 0) return [...all];
  return [
    ...all.slice(0, maxReported),
    { ...first, detail: `${others.length + 1} more of this kind in the row.` },
  ];
}

/** A name, unlike an id or email, can also belong to a row that is still pending. */
const isByName = (match: Match | undefined, text: string) =>
  match !== undefined && fold(match.label) === fold(commonName(text));

const notUsed = (field: string, unused: string, why: string): FieldError =>
  fieldError(field, 'not_used', `${why}. “${shortened(unused.trim())}” was not used.`);

const notFound = (field: string, text: string): FieldError =>
  fieldError(field, 'unknown_person', `No person matches “${shortened(text)}”, so this was left out.`);

const dependsOn = (field: string, text: string, line: number | undefined): FieldError =>
  fieldError(
    field,
    'unknown_reference',
    line === undefined
      ? `The row about “${shortened(text)}” refers to this one, too. Import this row without it first, then all with \`mode=upsert\`.`
      : `“${shortened(text)}” is on line ${line}, which failed. Correct that line first, and import both.`,
  );

const notCreated = (field: string, text: string, { errors, message }: Problem): FieldError =>
  fieldError(
    field,
    'unknown_reference',
    `No person matches “${shortened(text)}”, and none can be created: ${errors?.[0]?.detail ?? message}`,
  );

const contradiction = (field: string, idField: string, label: string, name: string): FieldError =>
  fieldError(
    field,
    'contradiction',
    `\`${idField}\` is ${label}, but this is “${shortened(name)}”. Change \`${idField}\`, or clear it to use the name.`,
  );

const otherName = (field: string, text: string, { label }: Match): FieldError =>
  fieldError(
    field,
    'contradiction',
    `The email address in “${shortened(text)}” is that of ${label}. Correct the name or the address.`,
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
  const others = kinds.includes('person')
    ? ' `unknown_people` can leave out or create people who are not found.'
    : '';
  const detail = `No ${kinds.join(' or ')} matches “${shortened(text)}”. Use ${hints.join('; or ')}.${others}`;
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
