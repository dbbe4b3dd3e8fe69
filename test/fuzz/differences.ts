import type { ParsedRow } from './draft.ts';
import type { Answer, Wire } from './send.ts';
import type { Side } from './target.ts';

/** What one service was asked, and how it answered. */
export type Told = { side: Side; draft: ParsedRow; wire: Wire; answer: Answer; errors: string[] };

/** Where the services do not agree, apart from what cannot be the same. */
export function differences(told: Told[]): string[] {
  const [first, ...others] = told;
  if (!first?.draft.isComparable) return [];
  return others.flatMap(({ side, answer }) => {
    if (answer.status !== first.answer.status) {
      return [
        `${first.side.name} answers ${first.answer.status}, ${side.name} ${answer.status} ${answer.text.slice(0, 300)}`,
      ];
    }
    // Pages, and what the service tells of itself, are its own.
    if (!/json|csv/.test(answer.headers['content-type'] ?? '')) return [];
    const [here, there] = [comparable(first.side, first.answer), comparable(side, answer)];
    if (here === there) return [];
    let at = 0;
    while (here[at] === there[at]) at++;
    const around = (text: string) => text.slice(Math.max(0, at - 60), at + 60);
    return [`the bodies differ: ${first.side.name} “${around(here)}”, ${side.name} “${around(there)}”`];
  });
}

/** Without what is by chance: ids are numbered, secrets and cursors left out, and when a key was used is told by minutes. */
const comparable = ({ origin, known }: Side, { text, headers }: Answer) =>
  known.label(
    (/json/.test(headers['content-type'] ?? '') ? withoutBlanks(text) : text)
      .replaceAll(new URL(origin).host, '')
      .replace(/mst_\w+(,\w{4},[^,]*,)?/g, 'mst')
      .replace(/…\w{4}/g, '…')
      .replace(/"(next_cursor|request_id|prefix|last_four|last_used_at)":(null|"[^"]*")/g, '"$1":"…"'),
  );

/** The engines make the same JSON, but not always with the same blanks in it. */
const withoutBlanks = (text: string) =>
  text
    .split('\n')
    .map((line) => (line === '' ? line : JSON.stringify(JSON.parse(line))))
    .join('\n');
