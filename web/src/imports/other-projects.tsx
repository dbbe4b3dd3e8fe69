import { Button } from '../components/button.tsx';
import { formatNumber } from '../format.ts';
import type { ImportReport } from './run-import.ts';
import type { ImportTarget } from './targets.ts';

type Props = { report: ImportReport; target: ImportTarget; onSwitch: (target: ImportTarget) => void };

const projectColumn = /^(project|projekt)([ _-]?(name|key|id))?$/i;

/** Says that rows name another project than the one of the page, before anything is written. */
export function OtherProjects({ report, target, onSwitch }: Props) {
  const { ofProject } = target;
  if (!ofProject) return null;
  const own = [ofProject.key, ofProject.name].map((text) => text.toLowerCase());
  const { ignored_columns } = report.summary;
  let rows = 0;
  let rejected = 0;
  const names = new Set<string>();
  for (const { data = {}, errors = [] } of report.results) {
    const wrong = errors.filter(({ code }) => code === 'other_project');
    const texts = [
      ...wrong.map(({ detail }) => /belongs to the project (.*?), not to/s.exec(detail)?.[1]),
      // The service reads over the project in the exports of some tools.
      ...ignored_columns.filter((column) => projectColumn.test(column)).map((column) => data[column]),
    ].filter((text) => text && !own.includes(text.toLowerCase()));
    if (texts.length === 0) continue;
    rows++;
    if (wrong.length > 0) rejected++;
    names.add(texts[0] ?? '');
  }
  if (rows === 0) return null;
  const shown = [...names].slice(0, 3).join(', ') + (names.size > 3 ? ' and others' : '');
  return (
    <div className="notice" role="status">
      <p>
        {rows === 1 ? '1 row names' : `${formatNumber(rows)} rows name`} another project: <bdi>{shown}</bdi>.{' '}
        {rejected < rows && (
          <>
            {rejected > 0 ? 'Some of them' : rows === 1 ? 'It' : 'They'} will be imported into{' '}
            <bdi>{ofProject.name}</bdi>.
          </>
        )}
      </p>
      <Button small onPress={() => onSwitch(ofProject.across)}>
        Use the projects of the file
      </Button>
    </div>
  );
}
