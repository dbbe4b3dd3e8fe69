import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onSqlite, pluck, withKey } from '../../../test/service.ts';
import { groupImport } from '../../resources/groups/import.ts';
import { issueImport } from '../../resources/issues/import.ts';
import { peopleImport } from '../../resources/personnel/import.ts';
import { projectImport } from '../../resources/projects/import.ts';
import { riskImport } from '../../resources/risks/import.ts';
import { taskImport } from '../../resources/tasks/import.ts';
import type { Importable } from '../importable.ts';
import { normalizeName, normalizeWord } from '../recognize/names.ts';
import { languages, wordsOfAll } from './all.ts';

const project = { id: 'prj_1', key: 'APOLLO', name: 'Apollo', external_id: null };

onSqlite('the words of all languages', (start) => {
  test('mean one thing each: one field as a column, and one value in a cell', async (t) => {
    const { database } = await start(t);
    const moment = { now: '2026-11-19T00:00:00.000Z', today: '2026-11-19', time_zone: 'UTC' };
    const importables = [
      peopleImport(moment),
      groupImport(),
      projectImport(moment),
      (await riskImport(database.db))(project, moment),
      issueImport(project, moment),
      taskImport(project, moment),
    ] as unknown as Importable[];
    const collisions = importables.flatMap(
      ({ what, synonyms, values = {}, ownWords = {}, joined = {}, patch }) => {
        const columns = [
          ...Object.keys(patch.properties).map((field) => [field, field] as const),
          ...pairs(synonyms),
          ...pairs(
            Object.fromEntries(Object.entries(ownWords).map(([field, own]) => [`not ${field}`, own.columns])),
          ),
          ...Object.entries(joined).flatMap(([field, parts]) =>
            parts.flatMap((names, i) => names.map((name) => [name, `${field} ${i}`] as const)),
          ),
          ...('project' in { project } && ['risk', 'issue', 'task'].includes(what)
            ? wordsOfAll(({ projectColumns }) => projectColumns).map((name) => [name, 'project'] as const)
            : []),
        ];
        const texts = Object.entries(values).map(
          ([field, words]) => [`${what} ${field}`, pairs(words), normalizeWord] as const,
        );
        const own = Object.entries(ownWords).map(
          ([field, { words }]) => [`${what} ${field}, inverted`, pairs(words), normalizeWord] as const,
        );
        return [[`columns of a ${what}`, columns, normalizeName] as const, ...texts, ...own].flatMap(
          ([where, all, normalized]) => ambiguous(where, all, normalized),
        );
      },
    );
    assert.deepEqual(collisions, []);
  });
});

const risksIn: Record<keyof typeof languages, string> = {
  english: 'Risk,Likelihood,Severity,State,Due date\nx,high,low,in progress,15 March 2026\n',
  german:
    'Risiko,Eintrittswahrscheinlichkeit,Auswirkung,Status,Fällig am\nx,hoch,gering,in Bearbeitung,15. März 2026\n',
  french: 'Intitulé,Probabilité,Gravité,Statut,Échéance\nx,élevée,faible,en cours,15 mars 2026\n',
  spanish: 'Título,Probabilidad,Impacto,Estado,Fecha límite\nx,alta,bajo,en curso,15 de marzo de 2026\n',
  italian: 'Titolo,Probabilità,Impatto,Stato,Scadenza\nx,elevata,basso,in corso,15 marzo 2026\n',
  portuguese: 'Título,Probabilidade,Impacto,Situação,Prazo\nx,alta,baixo,em andamento,15 de março de 2026\n',
  dutch: 'Risico,Kans,Gevolg,Status,Streefdatum\nx,hoog,laag,in behandeling,15 mrt 2026\n',
  polish: 'Ryzyko,Prawdopodobieństwo,Wpływ,Stan,Termin\nx,wysokie,niski,w toku,15 marca 2026\n',
};

onSqlite('a file in another language', (start) => {
  test('is imported by the words of its language', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const [language, file] of Object.entries(risksIn)) {
      const { id } = await service.make('/v1/projects', key, { name: language });
      const { text } = await service.upload(`/v1/projects/${id}/risks/import`, key, file);
      const [risk] = await service.list(`/v1/projects/${id}/risks`, key);
      assert.ok(risk, `${language} ${text}`);
      const { title, probability, impact, status, due_on } = risk;
      assert.deepEqual(
        [title, probability, impact, status, due_on],
        ['x', 4, 2, 'mitigating', '2026-03-15'],
        text,
      );
    }
  });

  test('is a question if most of its columns are unknown, and does not get a wrong title', async (t) => {
    const { service, key } = await withKey(start(t));
    await service.make('/v1/projects', key, { key: 'APOLLO', name: 'Apollo' });
    const path = '/v1/projects/APOLLO/issues/import';
    const file = 'Cím,Description,Felelős,Állapot\nElső,Leírás,Ada,nyitott\n';
    const { status, body } = await service.upload(path, key, file);
    assert.equal(status, 422);
    assert.deepEqual(pluck(body.errors, 'code'), ['unclear_columns']);
    assert.match(
      body.detail,
      /^3 of 4 columns are unknown, such as “Cím”, .*`map=Cím=…`.*`unknown_columns=skip`/,
    );
    assert.deepEqual(await service.list('/v1/projects/APOLLO/issues', key), []);
    const mapped = await service.upload(`${path}?map=Cím=title,Felelős=,Állapot=`, key, file);
    assert.equal(mapped.body.summary.created, 1, mapped.text);
    const [issue] = await service.list('/v1/projects/APOLLO/issues', key);
    assert.deepEqual([issue.title, issue.description], ['Első', 'Leírás']);
  });

  test('has the parts of names in the columns of its language', async (t) => {
    const { service, key } = await withKey(start(t));
    for (const [i, names] of [
      'Nom,Prénom\nDe Staël,Anne',
      'Nombre,Apellidos\nAnne,De Staël',
      'Name,Vorname\nDe Staël,Anne',
    ].entries()) {
      const [head, row] = names.split('\n');
      const { body } = await service.upload('/v1/personnel/import', key, `Matricule,${head}\n${i},${row}\n`);
      assert.deepEqual([body.summary.created, body.results[0].warnings], [1, undefined], names);
    }
    assert.deepEqual(pluck(await service.list('/v1/personnel', key), 'name'), Array(3).fill('Anne De Staël'));
  });
});

test('every language has the same resources, and no word that is empty', () => {
  for (const [name, language] of Object.entries(languages)) {
    const texts = textsIn(language);
    assert.ok(texts.length > 100, name);
    for (const text of texts) assert.match(text, /^\S(.*\S)?$/, `${name}: ${text}`);
    for (const word of texts.flatMap((text) => text.split(', '))) assert.notEqual(word.trim(), '', name);
  }
});

const pairs = (words: Readonly<Record<string, string>>) =>
  Object.entries(words).flatMap(([meaning, texts]) =>
    texts.split(',').map((text) => [text.trim(), meaning] as const),
  );

function ambiguous(
  where: string,
  all: readonly (readonly [string, string])[],
  normalized: (text: string) => string,
): string[] {
  const meanings = Map.groupBy(all, ([text]) => normalized(text));
  return [...meanings].flatMap(([text, found]) => {
    const different = new Set(found.map(([, meaning]) => meaning));
    return different.size > 1 ? [`${where}: ${text} is ${[...different].join(' and ')}`] : [];
  });
}

const textsIn = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value as object).flatMap(textsIn);
