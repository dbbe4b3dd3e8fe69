import type { Command } from 'commander';
import type { Context } from './key-commands.ts';

/** Adds `muster access …`. */
export function addAccessCommands(program: Command, { print, withDatabase }: Context): void {
  program
    .command('access')
    .description('see which people can sign in')
    .command('list')
    .description('list who has access, how they sign in, and when they were last seen')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }) => {
      const { accessTable, listAccessCommand } = await import('./list-access.ts');
      const { list, moment } = await withDatabase(async (database, clock) => ({
        list: await listAccessCommand(database),
        moment: (await clock())(),
      }));
      print(options.json ? JSON.stringify(list, null, 2) : accessTable(list, moment));
    });
}
