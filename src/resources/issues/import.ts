import type { Moment } from '../../core/clock.ts';
import type { Importable, ItemProject } from '../../import/importable.ts';
import { inAllLanguages, wordsOfAll } from '../../import/languages/all.ts';
import { normalizeWord } from '../../import/recognize/names.ts';
import { importOf } from '../project-items/import.ts';
import { issueList, issueWrites } from './queries.ts';
import { type Issue, IssueInput, IssuePatch } from './schema.ts';

/** The statuses of issues that were closed without being fixed, and what else they say. */
const rejected = wordsOfAll((language) => language.rejected);

const unfounded = {
  duplicate: 'duplicate',
  duplicated: 'duplicate',
  'cannot reproduce': 'not_an_issue',
  'cant reproduce': 'not_an_issue',
};

const recognized = inAllLanguages('issue');
const closed = [recognized.values.status?.closed, ...rejected, ...Object.keys(unfounded)].join(', ');

const isDone = ({ status }: { status?: unknown }) => status === 'resolved' || status === 'closed';

export const issueImport = (
  project: ItemProject,
  moment: Moment,
): Importable<Issue, typeof IssueInput, typeof IssuePatch> => ({
  ...importOf(issueWrites, project, moment),
  input: IssueInput,
  patch: IssuePatch,
  existing: issueList({ project: [project.id], status: ['all'] }, moment),
  intermediateStatus: { closed: 'resolved' },
  ...recognized,
  values: { ...recognized.values, status: { ...recognized.values.status, closed } },
  // The highest impact is 1 in ITIL, and 5 in a register of risks.
  unclearNumbers: { severity: ['impact', 'auswirkung'] },
  freeText: { resolution: 'resolution_note' },
  implied: {
    status: new Map([
      ...['cancelled', 'canceled', ...rejected].map(
        (status) => [normalizeWord(status), { resolution: 'wont_fix' }] as const,
      ),
      ...Object.entries(unfounded).map(([status, resolution]) => [status, { resolution }] as const),
    ]),
  },
  // An issue that is done needs a resolution. Of a file that states none, the usual one is taken, and told.
  complete: (patch) => (isDone(patch) ? { ...patch, resolution: patch.resolution ?? 'fixed' } : patch),
  assumed: {
    severity: () => 'medium',
    resolution: (row) => (isDone(row) ? 'fixed' : undefined),
  },
});
