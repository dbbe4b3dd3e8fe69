import type { Command } from 'commander';
import type { Clock } from '../../core/clock.ts';
import { UsageError } from '../../core/errors.ts';
import type { Database } from '../../database/open.ts';
import type { KeyOptions } from './keys.ts';

export type Context = {
  print(text: string): void;
  withDatabase<T>(work: (database: Database, clock: () => Promise<Clock>) => Promise<T>): Promise<T>;
};

/** Adds `muster keys …`. The commands themselves are loaded when one of them runs. */
export function addKeyCommands(program: Command, { print, withDatabase }: Context): void {
  const keys = program.command('keys').description('create, list, rotate and revoke API keys');

  keys
    .command('create')
    .description('create a key; its secret is shown only once')
    .requiredOption('--name <name>', 'what the key is for')
    .requiredOption('--scopes <list>', 'separated by commas, such as personnel.read,projects.manage; or all')
    .option('--project <list>', 'limit the key to these project ids or keys (default: all)', collectList)
    .option(
      '--expires <when>',
      'a date, a time (in UTC unless it has an offset), or days from now such as 90d',
    )
    .option('--rate-limit <number>', "requests per minute, 0 for no limit (default: the service's limit)")
    .option('--json', 'print JSON')
    .action(async (options: KeyOptions & { json?: true }) => {
      const { createKeyCommand, revokeKeyCommand } = await import('./keys.ts');
      await withDatabase(async (database, clock) => {
        const key = await createKeyCommand(database, await clock(), options);
        await printSecret(key, options, () => revokeKeyCommand(database, key.id));
      });
    });

  keys
    .command('list')
    .description('list all keys, without their secrets')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }) => {
      const { keyTable, listKeysCommand } = await import('./keys.ts');
      const { list, moment } = await withDatabase(async (database, clock) => ({
        list: await listKeysCommand(database),
        moment: (await clock())(),
      }));
      print(options.json ? json(list) : keyTable(list, moment));
    });

  keys
    .command('rotate <id>')
    .description('replace the secret of a key; the new secret is shown only once')
    .option('--overlap <seconds>', 'how long the old secret keeps working', '0')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { overlap: string; json?: true }) => {
      const { rotateKeyCommand } = await import('./keys.ts');
      const key = await withDatabase((database) => rotateKeyCommand(database, id, options));
      await printSecret(key, options);
    });

  keys
    .command('revoke <id>')
    .description('revoke a key, effective from the next request')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { json?: true }) => {
      const { revokeKeyCommand } = await import('./keys.ts');
      const key = await withDatabase((database) => revokeKeyCommand(database, id));
      print(options.json ? json(key) : `${key.id} (${key.name}) is revoked.`);
    });
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

/** A new key whose secret nobody has seen is revoked with `revoke`. */
async function printSecret(
  key: { id: string; secret: string },
  { json: isJson }: { json?: true },
  revoke?: () => Promise<unknown>,
): Promise<void> {
  const { writeStandardOutput } = await import('../output.ts');
  try {
    await writeStandardOutput(`${isJson ? json(key) : withSecret(key)}\n`);
  } catch (error) {
    // The only key that can manage access is not revoked.
    const isRevoked = await revoke?.().then(
      () => true,
      () => false,
    );
    const next = isRevoked ? `${key.id} is revoked` : `Replace its secret: muster keys rotate ${key.id}`;
    throw new UsageError(
      `Standard output cannot be written (${(error as Error).message}), so nobody has seen the secret. ${next}.`,
    );
  }
}

const withSecret = ({ id, secret }: { id: string; secret: string }) =>
  `${secret}\n\n${id}: save the secret now; it is not shown again.`;

/** Accepts a list as one option separated by commas, or as a repeated option. */
const collectList = (text: string, previous: string[] = []) => [...previous, ...text.split(',')];
