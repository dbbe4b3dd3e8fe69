import { invalidParameter, keyLimited } from '../../core/errors.ts';
import { grants, insufficientScope } from '../../core/scopes.ts';
import type { Change } from '../../store/writes/change.ts';
import type { ImportQuery } from '../schema.ts';
import type { SyncOptions } from './sync.ts';

type Stated = Pick<ImportQuery, 'mode' | 'source' | 'max_leaving' | 'handover_to'>;

/** The options of `mode=sync`; undefined for other modes, which have none of them. */
export function readSync(
  { mode, source, max_leaving = 5, handover_to }: Stated,
  { scopes, project_ids }: Pick<Change, 'scopes' | 'project_ids'>,
  isAtomic: boolean,
): SyncOptions | undefined {
  if (mode !== 'sync') {
    const other = source !== undefined ? 'source' : handover_to !== undefined ? 'handover_to' : undefined;
    if (other)
      throw invalidParameter(other, `\`${other}\` is for \`mode=sync\`. Add that, or remove \`${other}\`.`);
    return undefined;
  }
  if (source === undefined)
    throw invalidParameter(
      'source',
      '`mode=sync` needs `source`: the name of the system that the file comes from.',
    );
  if (isAtomic)
    throw invalidParameter(
      'atomic',
      'A sync writes several transactions. Remove `atomic`: it is safe to send again.',
    );
  if (project_ids !== null) throw keyLimited('A sync changes the whole roster.');
  if (handover_to !== undefined && !/^(manager|usr_\w+|grp_\w+)$/.test(handover_to))
    throw invalidParameter('handover_to', 'Use `manager`, or the ID of a person or group.');
  if (handover_to !== undefined && !grants(scopes, 'projects.manage'))
    throw insufficientScope(
      'A hand-over changes projects, so it requires the scope projects.manage as well. Use a key that has both, or leave ' +
        'out `handover_to`.',
      ['personnel.manage', 'projects.manage'],
    );
  return { source, maxLeaving: max_leaving, ...(handover_to && { handoverTo: handover_to }) };
}
