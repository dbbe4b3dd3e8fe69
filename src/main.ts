#!/usr/bin/env -S node --max-semi-space-size=4
import { writeFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';

// Loading the sources is most of the time to the first answer; from the second start on it is spared.
enableCompileCache();
// Otherwise the heap may double before it is looked through, and after an import most of it is waste.
setFlagsFromString('--heap-growing-percent=50');

const { Command, CommanderError, Option } = await import('commander');
const { environmentWithFile, readConfig } = await import('./config.ts');
const { Problem, UsageError } = await import('./core/errors.ts');
const { openDatabase } = await import('./database/open.ts');
const { version } = await import('./core/version.ts');

type Config = import('./config.ts').Config;
type ImportOptions = import('./commands/import.ts').ImportOptions;
type ExportOptions = import('./commands/export.ts').ExportOptions;
type Database = import('./database/open.ts').Database;
type KeyOptions = import('./commands/keys.ts').KeyOptions;

const print = (text: string) => void process.stdout.write(`${text}\n`);
const json = (value: unknown) => JSON.stringify(value, null, 2);
const withSecret = ({ id, secret }: { id: string; secret: string }) =>
  `${secret}\n\n${id}: keep the secret; it is not shown again.`;
/** Lists may be given in one option, separated by commas, or in several. */
const alsoListed = (text: string, before: string[] = []) => [...before, ...text.split(',')];
const config = (): Config => readConfig(environmentWithFile(process.env));

const collect = (value: string, values: string[]) => [...values, value];

/** Only people at a terminal are told how far it is; the line is written over by the next. */
const progress = (text: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
};

async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(config().database_url);
  try {
    await database.migrate();
    return await work(database);
  } finally {
    await database.close();
  }
}

const program = new Command('muster')
  .description('The roster, the groups, the ranked cross-project risk register and the open issues.')
  .version(version)
  .exitOverride()
  .configureOutput({ outputError: () => {} })
  .showSuggestionAfterError();

program
  .command('serve')
  .description('run the service')
  .action(async () => {
    const { serve } = await import('./commands/serve.ts');
    await serve(config(), print);
  });

program
  .command('demo')
  .description('run the service on a throw-away database with a made-up organization')
  .action(async () => {
    const { demo } = await import('./commands/demo.ts');
    await demo(config(), print);
  });

program
  .command('migrate')
  .description('bring the tables of the database up to date')
  .action(async () => {
    const database = openDatabase(config().database_url);
    try {
      const ran = await database.migrate();
      print(
        ran.length === 0 ? `${database.name} is up to date.` : `${database.name}: ran ${ran.join(', ')}.`,
      );
    } finally {
      await database.close();
    }
  });

program
  .command('openapi')
  .description('print the description of the API')
  .option('-o, --output <file>', 'write it to a file instead')
  .action(async ({ output }: { output?: string }) => {
    const { openapiDocument } = await import('./commands/openapi.ts');
    const document = await openapiDocument();
    if (output === undefined) process.stdout.write(document);
    else writeFileSync(output, document);
  });

program
  .command('import <what> <file>')
  .description(
    'take in people, groups, projects, risks, issues or tasks from CSV, NDJSON or XLSX; - is standard input',
  )
  .option('--project <key>', 'the project of the risks, issues or tasks')
  .addOption(
    new Option('--mode <mode>', 'whether to change what is there already')
      .choices(['create', 'upsert'])
      .default('create'),
  )
  .option('--atomic', 'all rows or none')
  .option('--dry-run', 'say what would happen, and change nothing')
  .option('--map <column=field>', 'what a column is; Column= leaves it out; may be given often', collect, [])
  .option('--charset <name>', 'of a CSV file that is not UTF-8, such as windows-1252')
  .option('--json', 'print the result of every row as JSON')
  .action(async (what: string, file: string, options: ImportOptions & { json?: true }) => {
    const { importCommand, importJson, importReport } = await import('./commands/import.ts');
    const imported = await withDatabase((database) =>
      importCommand(database, what, file, options, (done, rows) => progress(`${done} of ${rows} rows`)),
    );
    progress('');
    if (options.json) for (const text of importJson(imported)) process.stdout.write(text);
    else for (const line of importReport(imported)) print(line);
    if (options.json) print('');
    if (imported.summary.failed > 0) process.exitCode = 1;
  });

program
  .command('export <what> [filters...]')
  .description(
    'write personnel, groups, projects, risks, issues or tasks to a file; filters are as in the API: status=active',
  )
  .option('--project <key>', 'only the risks, issues or tasks of this project, in every state')
  .option('--format <format>', 'json, ndjson, csv or xlsx; by default what the file is called')
  .option('-o, --output <file>', 'where to; by default standard output')
  .action(async (what: string, filters: string[], options: ExportOptions) => {
    const { exportCommand } = await import('./commands/export.ts');
    const rows = await withDatabase((database) =>
      exportCommand(database, what, filters, options, (rows) => progress(`${rows} rows`)),
    );
    progress('');
    if (options.output !== undefined && options.output !== '-')
      print(`${rows} rows are in ${options.output}.`);
  });

const keys = program.command('keys').description('make, list, rotate and revoke API keys');

keys
  .command('create')
  .description('make a key; its secret is shown only this once')
  .requiredOption('--name <name>', 'what it is for')
  .requiredOption('--scopes <list>', 'separated by commas, such as personnel.read,projects.manage; or all')
  .option('--project <list>', 'ids or keys of the projects it is limited to; without it, all', alsoListed)
  .option('--expires <when>', 'a day, a time, or days from now such as 90d')
  .option('--rate-limit <number>', "requests a minute, 0 for any number; without it, the service's own limit")
  .option('--json', 'print JSON')
  .action(async (options: KeyOptions & { json?: true }) => {
    const { createKeyCommand } = await import('./commands/keys.ts');
    const key = await withDatabase((database) => createKeyCommand(database, options));
    print(options.json ? json(key) : withSecret(key));
  });

keys
  .command('list')
  .description('list all keys, without their secrets')
  .option('--json', 'print JSON')
  .action(async (options: { json?: true }) => {
    const { keyTable, listKeysCommand } = await import('./commands/keys.ts');
    const list = await withDatabase(listKeysCommand);
    print(options.json ? json(list) : keyTable(list));
  });

keys
  .command('rotate <id>')
  .description('give a key a new secret; it is shown only this once')
  .option('--overlap <seconds>', 'how long the old secret still works', '0')
  .option('--json', 'print JSON')
  .action(async (id: string, options: { overlap: string; json?: true }) => {
    const { rotateKeyCommand } = await import('./commands/keys.ts');
    const key = await withDatabase((database) => rotateKeyCommand(database, id, options));
    print(options.json ? json(key) : withSecret(key));
  });

keys
  .command('revoke <id>')
  .description('make a key useless from the next request on')
  .option('--json', 'print JSON')
  .action(async (id: string, options: { json?: true }) => {
    const { revokeKeyCommand } = await import('./commands/keys.ts');
    const key = await withDatabase((database) => revokeKeyCommand(database, id));
    print(options.json ? json(key) : `${key.id} (${key.name}) is revoked.`);
  });

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  process.stderr.write(`muster: ${describe(error)}\n`);
  process.exit(1);
}

/** Errors that say what to do are one line; a defect shows where it is. */
function describe(error: unknown): string {
  if (error instanceof CommanderError) return error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  if (error instanceof UsageError || error instanceof Problem) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
