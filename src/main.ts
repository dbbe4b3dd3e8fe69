#!/usr/bin/env -S MALLOC_MMAP_THRESHOLD_=1048576 node --max-semi-space-size=4
import module from 'node:module';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';

// An older Node can read only this file. The others are imported after the check.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 7)) {
  console.error(`Muster needs Node 24.7 or newer, and this is ${process.versions.node}.`);
  process.exit(1);
}

/**
 * As the first process of a container, a signal without a listener has no effect. Any other process ends by itself, also while
 * it is busy, and leaves nothing half done. The service replaces the listeners when it is ready.
 */
if (process.pid === 1) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, endBySignal);
function endBySignal(_: string, number: number): void {
  process.exit(128 + number);
}

// Compiling the sources takes most of the startup time. The cache saves it from the second start on.
module.enableCompileCache();
// By default the heap may double before a full garbage collection; after an import most of it is garbage.
setFlagsFromString('--heap-growing-percent=50');

const { Command, CommanderError, Option } = await import('commander');
const { addAccessCommands } = await import('./commands/access/access-commands.ts');
const { addKeyCommands } = await import('./commands/access/key-commands.ts');
const { baseUrlOf, describeSettings, environmentWithFile, readConfig } = await import('./config.ts');
const { Problem, UsageError } = await import('./core/errors.ts');
const { openDatabase } = await import('./store/open.ts');
const { version } = await import('./core/version.ts');

type Clock = import('./core/clock.ts').Clock;
type Config = import('./config.ts').Config;
type ImportOptions = import('./commands/import.ts').ImportOptions;
type ExportOptions = import('./commands/export.ts').ExportOptions;
type BackupOptions = { output?: string; keep?: string; verify?: true; json?: true };
type Database = import('./database/open.ts').Database;

const print = (text: string) => void process.stdout.write(`${text}\n`);
const json = (value: unknown) => JSON.stringify(value, null, 2);
const settingsFile = () => program.opts<{ settings?: string }>().settings;
const config = (): Config => readConfig(environmentWithFile(process.env, settingsFile()));
const wholeNumber = (value: string) => {
  if (!/^[1-9]\d{0,3}$/.test(value))
    throw new UsageError(`“${value}” is not the number of a line. Use 1 to 9999.`);
  return Number(value);
};
const percent = (value: string) => {
  if (!/^\d{1,3}$/.test(value) || Number(value) > 100)
    throw new UsageError(`“${value}” is not a percentage.`);
  return Number(value);
};
const collect = (value: string, values: string[]) => [...values, value];

/** Shows progress on a terminal only. Each line overwrites the previous one. */
const progress = (text: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
};

function open(config: Config): Database {
  const { database_url, database_prepare: prepare, database_pool: maxConnections } = config;
  const database = openDatabase(database_url, undefined, { prepare, maxConnections });
  database.setBaseUrl(baseUrlOf(config));
  return database;
}

/** `nothing` if the command itself looks at the version of the database. */
type BeforeWork = 'migrate' | 'expectCurrent' | 'nothing';
type Work<T> = (database: Database, clock: () => Promise<Clock>) => Promise<T>;

/** Only the service, `migrate`, `restore` and `import` change the schema of a database. */
async function withDatabase<T>(work: Work<T>, before: BeforeWork = 'expectCurrent'): Promise<T> {
  const settings = config();
  const database = open(settings);
  try {
    if (before === 'migrate') await database.migrate();
    if (before === 'expectCurrent') await expectCurrent(database);
    return await work(database, () => organizationClock(database, settings));
  } finally {
    await database.close();
  }
}

async function expectCurrent(database: Database): Promise<void> {
  const { applied, pending } = await database.migrations();
  if (applied.length === 0)
    throw new UsageError(
      `The database ${database.name} has no tables. If it is not the one of the service, name the settings of the service with --settings, or set MUSTER_DATABASE_URL. Otherwise start the service, or run muster migrate.`,
    );
  if (pending.length > 0)
    throw new UsageError(
      `The database ${database.name} was written by an older version of Muster. Run muster migrate first.`,
    );
}

/** Commands have the day of the service, or of its settings before its first start. */
async function organizationClock({ db }: Database, settings: Config): Promise<Clock> {
  const { clockIn, systemClock } = await import('./core/clock.ts');
  const { findTimeZone } = await import('./store/settings.ts');
  return clockIn((await findTimeZone(db)) ?? settings.time_zone ?? 'UTC', systemClock);
}

const program = new Command('muster')
  .description('People, groups, projects, the ranked risk register and open issues, as an HTTP API.')
  .version(version)
  .option('--settings <file>', 'a file with settings, such as /etc/muster.env, instead of .env')
  .exitOverride()
  // Without a command, the help is the result and not an error.
  .configureOutput({ outputError: () => {}, writeErr: (text) => void process.stdout.write(text) })
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
  .description('run the service with sample data in a temporary database')
  .action(async () => {
    const { demo } = await import('./commands/demo.ts');
    await demo(config(), print);
  });

program
  .command('config')
  .description('print the settings in force and where each comes from, without secrets')
  .option('--json', 'print JSON')
  .action(async (options: { json?: true }) => {
    const { table } = await import('./commands/access/tables.ts');
    const settings = describeSettings(process.env, settingsFile());
    if (options.json) print(json(settings));
    else
      print(
        table(
          ['setting', 'value', 'source'],
          settings.map(({ name, value, source }) => [name, value ?? '', source]),
        ),
      );
  });

program
  .command('migrate')
  .description('update the database schema')
  .option('--dry-run', 'print the pending migrations without running them')
  .action(({ dryRun }: { dryRun?: true }) =>
    withDatabase(async (database) => {
      const names = dryRun ? (await database.migrations()).pending : await database.migrate();
      if (names.length === 0) print(`${database.name} is up to date.`);
      else print(`${database.name}: ${dryRun ? 'would run' : 'ran'} ${names.join(', ')}.`);
    }, 'nothing'),
  );

program
  .command('openapi')
  .description('print the OpenAPI document')
  .option('-o, --output <file>', 'write to a file instead of standard output')
  .action(async ({ output }: { output?: string }) => {
    const { openapiDocument } = await import('./commands/openapi.ts');
    const { writeOutput } = await import('./commands/output.ts');
    await writeOutput(Readable.from([await openapiDocument()]), output);
  });

program
  .command('import <what> <file>')
  .description(
    'import personnel, groups, projects, risks, issues or tasks from CSV, NDJSON or XLSX; - reads standard input',
  )
  .option(
    '--project <key>',
    'the project of the risks, issues or tasks (default: each row names its project)',
  )
  .option('--create-projects', 'create projects that rows name and that do not exist')
  .addOption(
    new Option(
      '--mode <mode>',
      'create: only add rows; upsert: also update existing ones; sync: also remove who is missing',
    )
      .choices(['create', 'upsert', 'sync'])
      .default('create'),
  )
  .option('--source <name>', 'with --mode sync: the system that the file comes from')
  .option('--max-leaving <percent>', 'with --mode sync: how many may be missing (default: 5)', percent)
  .option('--handover-to <who>', 'with --mode sync: who takes over: manager, or the ID of a person or group')
  .option('--atomic', 'import all rows or none')
  .option('--dry-run', 'report what would happen without changing anything')
  .option(
    '--map <column=field>',
    'map a column to a field; Column= ignores the column; repeatable',
    collect,
    [],
  )
  .option(
    '--map-values <column:text=value>',
    'read a text of a column as a value of its field; repeatable',
    collect,
    [],
  )
  .option(
    '--scale <column=scale>',
    'the scale of a column of ratings: 1-5, 1-10 or percent; repeatable',
    collect,
    [],
  )
  .option('--set <field:value>', 'a value for a field that a row has no value for; repeatable', collect, [])
  .option('--mapping <name>', 'a saved mapping, whose parameters are added')
  .addOption(
    new Option('--unknown-columns <policy>', 'what to do with unknown columns (default: skip)').choices([
      'skip',
      'attributes',
      'reject',
    ]),
  )
  .addOption(
    new Option(
      '--unknown-people <policy>',
      'what to do with names that match nobody (default: error); create adds placeholders',
    ).choices(['error', 'leave_empty', 'create']),
  )
  .option('--preset <tool>', 'the tool that wrote the file, such as jira; none for no tool')
  .addOption(
    new Option('--date-order <order>', 'the order of dates such as 03/04/2026').choices(['dmy', 'mdy']),
  )
  .option('--sheet <name>', 'the sheet of a workbook (default: the one with the columns of the resource)')
  .option('--header-row <line>', 'the line with the names of the columns (default: it is found)', wholeNumber)
  .option('--charset <name>', 'encoding of a CSV file that is not UTF-8, such as windows-1252')
  .option('--json', 'print the result of every row as JSON')
  .action(async (what: string, file: string, options: ImportOptions & { json?: true }) => {
    const { importCommand, importJson, importReport, interruptedReport } = await import(
      './commands/import.ts'
    );
    let state = { done: 0, rows: 0 };
    process.removeAllListeners('SIGINT').once('SIGINT', () => {
      process.stderr.write(`\n${interruptedReport(state.done, state.rows, options)}\n`);
      process.exit(130);
    });
    const imported = await withDatabase(
      async (database, clock) =>
        importCommand(database, await clock(), what, file, options, (done, rows) => {
          state = { done, rows };
          progress(`${done} of ${rows} rows`);
        }),
      'migrate',
    );
    progress('');
    if (options.json) for await (const text of importJson(imported)) process.stdout.write(text);
    else for await (const line of importReport(imported)) print(line);
    if (options.json) print('');
    if (imported.summary.failed > 0) process.exitCode = 1;
  });

program
  .command('export <what> [filters...]')
  .description(
    'export all personnel, groups, projects, risks, issues or tasks; filters as in the API, such as status=active',
  )
  .option('--project <key>', 'only the risks, issues or tasks of this project')
  .option('--format <format>', 'json, ndjson, csv or xlsx (default: the file extension, or csv)')
  .option('-o, --output <file>', 'the file to write (default: standard output)')
  .action(async (what: string, filters: string[], options: ExportOptions) => {
    const { exportCommand } = await import('./commands/export.ts');
    const { isStandardOutput } = await import('./commands/output.ts');
    const rows = await withDatabase(async (database, clock) =>
      exportCommand(database, await clock(), what, filters, options, (rows) => progress(`${rows} rows`)),
    );
    progress('');
    if (!isStandardOutput(options.output)) print(`${rows} rows are in ${options.output}.`);
  });

const showRows = (name: string, count: number) => progress(count > 0 ? `${name}: ${count}` : name);

program
  .command('backup')
  .summary('write a backup of the whole database, also while the service runs')
  .description(
    'Write a backup of the whole database, also while the service runs. It contains all data, and the secrets that sign ' +
      'webhooks as plain text: protect it like the database. With --output, only the owner can read the file. API keys ' +
      'are stored, and backed up, as hashes.',
  )
  .option('-o, --output <file>', 'the file to write (default: standard output, or a new file with --keep)')
  .option(
    '--keep <number>',
    'write to a new file in MUSTER_BACKUP_DIR, then delete all but this many of the newest ones there',
  )
  .option('--verify', 'then restore it into a temporary database, to see that it can be')
  .option('--json', 'print the result as JSON')
  .action(async ({ output, keep, verify, json: isJson }: BackupOptions) => {
    const { backupCommand, describeRows } = await import('./commands/backup.ts');
    const { scheduledBackup } = await import('./commands/scheduled-backup.ts');
    const scheduled = keep === undefined ? undefined : scheduledBackup(config(), keep, output);
    const target = scheduled?.file ?? output;
    const result = await withDatabase(
      (database) =>
        backupCommand(
          database,
          target,
          showRows,
          (error) =>
            process.stderr.write(
              `The result of this backup could not be stored, so the metrics of the service do not show it (${(error as Error).message}).\n`,
            ),
          verify,
        ),
      'nothing',
    );
    // Only after the new one is complete.
    scheduled?.deleteOld();
    progress('');
    // Standard output may be the backup itself.
    const report = isJson ? json(result) : `${result.file}: ${describeRows(result.rows, result.seconds)}`;
    if (result.file === '-') process.stderr.write(`${report}\n`);
    else print(report);
  });

program
  .command('restore <file>')
  .description('load a backup into a database that is empty or missing; - reads standard input')
  .option('--new-versions', 'has no effect any more: clients read lists again after every restore')
  .option('--json', 'print the result as JSON')
  .action(async (file: string, options: { newVersions?: true; json?: true }) => {
    const { restoreCommand, restoreReport } = await import('./commands/backup.ts');
    const result = await withDatabase(
      (database) => restoreCommand(database, file, { ...options, onProgress: showRows }),
      'nothing',
    );
    progress('');
    if (options.json) print(json(result));
    else for (const line of restoreReport(result)) print(line);
  });

program
  .command('check')
  .description('check that the data is consistent; exits with 1 if it is not')
  .option('--json', 'print the result as JSON')
  .action(async (options: { json?: true }) => {
    const { checkCommand, checkReport } = await import('./commands/check.ts');
    const result = await withDatabase((database) => checkCommand(database, showRows), 'nothing');
    progress('');
    if (options.json) print(json(result));
    else for (const line of checkReport(result)) print(line);
    if (result.violations.length > 0) process.exitCode = 1;
  });

addAccessCommands(program, { print, withDatabase });
addKeyCommands(program, { print, withDatabase });

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The service goes on without its output. The others report an output that is incomplete.
  if (/^(serve|demo|backup|keys create|keys rotate)\b/.test(program.args.join(' '))) return;
  // A reader such as `head` has what it wants.
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`muster: Standard output cannot be written (${error.message}).\n`);
  process.exit(1);
});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help'))
    process.exit(0);
  process.stderr.write(`muster: ${describe(error)}\n`);
  process.exit(1);
}

/** Errors for the user are one line; unexpected errors show their stack. */
function describe(error: unknown): string {
  if (error instanceof CommanderError) return error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  if (error instanceof UsageError || error instanceof Problem) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
