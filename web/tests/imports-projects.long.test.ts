import assert from 'node:assert/strict';
import { assertAccessible } from './axe.ts';
import { startConsole, test } from './console.ts';
import { drop, pick } from './page.ts';

const console = startConsole();
const empty = startConsole({ isEmpty: true });

/** What only the API and the command line call something. */
const apiWords =
  /map_values|scales=|mode=|create_projects|unknown_people|materialized|external_id|Map values|`/;

test('each project that does not exist is asked for once: another one, a new one, or none', async (t) => {
  const page = await console.open(t, '/issues');
  await drop(
    page,
    'log.csv',
    'Project,Issue,Severity\nRoof,Asked one,High\nBarn,Asked two,High\nroof,Asked three,High\nAttic,Asked four,High\nRoof,Asked five,High\n',
  );
  const dialog = page.getByRole('dialog', { name: 'Import issues' });
  await dialog.getByText('5 rows, all with errors.').waitFor();
  await dialog.getByText('Projects, 3 not found').waitFor();
  assert.doesNotMatch((await dialog.textContent()) ?? '', apiWords);
  await assertAccessible(page, 'unknown projects');
  const choiceOf = (name: string) => dialog.getByRole('combobox', { name: new RegExp(`^${name} `) });
  await choiceOf('Roof').selectOption('Choose project');
  await pick(page, 'Project for Roof', 'Apollo');
  await dialog.getByText('5 rows: 3 new, 2 with errors.').waitFor();
  await choiceOf('Barn').selectOption('Create project');
  await choiceOf('Attic').selectOption('Leave out these rows');
  await dialog.getByText('5 rows: 4 new, 1 left out.').waitFor();
  await dialog.getByText('The rows of “Attic” are left out.').waitFor();
  await dialog.getByRole('button', { name: 'Import 4 rows' }).click();
  await dialog.getByText('Import finished. 5 rows: 4 new, 1 left out.').waitFor();
  const apollo = await console.get('/v1/projects/APOLLO');
  const { data } = await console.get('/v1/issues?q=asked&sort=title');
  assert.deepEqual(
    data.map(({ title, project_name }: Record<string, string>) => [title, project_name]),
    [
      ['Asked five', apollo.name],
      ['Asked one', apollo.name],
      ['Asked three', apollo.name],
      ['Asked two', 'Barn'],
    ],
  );
  const projects = (await console.get('/v1/projects')).data.map(({ name }: { name: string }) => name);
  assert.ok(projects.includes('Barn') && !projects.includes('Roof') && !projects.includes('Attic'));
});

test('an export of two projects is imported into the one of the page only if the reader says so', async (t) => {
  const file = 'Summary,Issue key,Issue Type\nFirst tile,ROOF-11,Task\nFirst stone,YARD-11,Task\n';
  const page = await console.open(t, '/projects/APOLLO');
  await drop(page, 'jira.csv', file);
  const dialog = page.getByRole('dialog', { name: /^Import/ });
  await dialog.getByRole('button', { name: 'Tasks' }).click();
  const alert = dialog.getByRole('alert');
  await alert
    .getByText('The rows belong to several projects, such as “ROOF-11” on line 2 and “YARD-11”')
    .waitFor();
  assert.doesNotMatch((await alert.textContent()) ?? '', apiWords);
  await alert.getByRole('button', { name: 'Use the projects of the file' }).waitFor();
  await alert.getByRole('button', { name: /^Import all into / }).click();
  await dialog.getByText('2 rows: 2 new.').waitFor();
});

test('what is wrong with rows is said in the words of the console', async (t) => {
  await console.post('/v1/projects/APOLLO/risks', { title: 'Worded flood', external_id: 'W-1' });
  const page = await console.open(t, '/projects/APOLLO');
  const file =
    'Title,Risk ID,Impact,Kind,Status\nWorded flood,W-1,3,threat,Open\nWorded fire,W-2,9 of 10,danger,Materialised\nWorded ice,W-3,3,threat,Materialised\n';
  await drop(page, 'risks.csv', file);
  const dialog = page.getByRole('dialog', { name: 'Import risks' });
  await dialog.getByText('3 rows: 1 new, 2 with errors.').waitFor();
  await dialog.getByText('already has the external ID').waitFor();
  await dialog.getByText('or choose a value for the text above.').first().waitFor();
  assert.doesNotMatch((await dialog.textContent()) ?? '', apiWords);
  await dialog.getByLabel('Update existing risks').check();
  await dialog.getByText('3 rows: 1 new, 1 updated, 1 with errors.').waitFor();
  assert.doesNotMatch((await dialog.textContent()) ?? '', apiWords);
});

test('with a single project and an own risk model, the project is chosen and the words of ratings are offered', async (t) => {
  await empty.post('/v1/projects', { name: 'Only harbor', key: 'HARBOR' });
  const presets = (await empty.get('/v1/risk-model/presets')).data;
  const { model } = presets.find(({ id }: { id: string }) => id === 'four_by_four');
  await empty.put('/v1/risk-model', model);
  const page = await empty.open(t, '/risks');
  await drop(page, 'risks.csv', 'Risk,Impact\nOwn flood,Ghastly\n');
  const dialog = page.getByRole('dialog', { name: 'Import risks' });
  const choice = dialog.getByLabel('Impact: Ghastly means');
  await choice.selectOption('4');
  assert.equal(await choice.locator('option:checked').textContent(), `4 ${model.impact[3].word}`);
  await dialog.getByText('1 row: 1 new.').waitFor();
  await dialog.getByRole('button', { name: 'Import 1 row', exact: true }).click();
  await dialog.getByText('Import finished.').waitFor();
  const [risk] = (await empty.get('/v1/risks')).data;
  assert.deepEqual([risk.project_key, risk.impact], ['HARBOR', 4]);
});
