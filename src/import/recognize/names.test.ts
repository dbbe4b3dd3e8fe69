import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issueImport } from '../../resources/issues/import.ts';
import type { Importable } from '../importable.ts';
import { knownColumns } from './catalogue.ts';
import { nameForms } from './names.ts';

test('a heading is a column by all of its words, with a scale or a note in brackets', () => {
  const moment = { now: '2026-11-19T00:00:00.000Z', today: '2026-11-19', time_zone: 'UTC' };
  const project = { id: 'prj_1', key: 'APOLLO', name: 'Apollo', external_id: null };
  const issues = issueImport(project, moment) as unknown as Importable;
  const known = knownColumns(issues);
  const columns: Record<string, string | undefined> = {
    Status: 'status',
    'Issue status': 'status',
    'STATUS (required)': 'status',
    '3. Severity [1-4]': 'severity',
    'Severity (1 = low, 4 = high)': 'severity',
    'Impact (H/M/L)': 'severity',
    'Due date (DD.MM.YYYY)': 'due_on',
    'Priority [priority]': 'priority',
    'Date submitted': 'raised_on',
    sys_created_on: 'raised_on',
    'Status (last year)': undefined,
    'Date of issue': undefined,
    'The status': undefined,
    'Assigned at': undefined,
    'Owner (deputy)': undefined,
    'Severity (before)': undefined,
    'Status at the end': undefined,
  };
  const found = Object.keys(columns).map((name) => {
    const form = nameForms(name, issues.what).find((form) => known.has(form));
    return [name, form && known.get(form)?.column.field];
  });
  assert.deepEqual(Object.fromEntries(found), columns);
});
