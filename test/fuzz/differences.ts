import type { Draft } from './draft.ts';
import type { ServiceResponse, Wire } from './send.ts';
import type { Side } from './target.ts';

/** A request to one service and its response. */
export type Exchange = { side: Side; draft: Draft; wire: Wire; response: ServiceResponse; errors: string[] };

/** Compares the responses of several services to the same request, without values that always differ. */
export function findDifferences(exchanges: Exchange[]): string[] {
  const [first, ...rest] = exchanges;
  if (!first?.draft.isComparable) return [];
  return rest.flatMap(({ side, response }) => {
    if (response.status !== first.response.status) {
      return [
        `${first.side.name} returns ${first.response.status}, ${side.name} ${response.status} ${response.text.slice(0, 300)}`,
      ];
    }
    // HTML pages and metrics differ between services.
    if (!/json|csv/.test(response.headers['content-type'] ?? '')) return [];
    const [here, there] = [comparable(first.side, first.response), comparable(side, response)];
    if (here === there) return [];
    let at = 0;
    while (here[at] === there[at]) at++;
    const around = (text: string) => text.slice(Math.max(0, at - 60), at + 60);
    return [`the bodies differ: ${first.side.name} “${around(here)}”, ${side.name} “${around(there)}”`];
  });
}

/** Replaces random values: ids become numbers; secrets, cursors, latencies and the time a key was last used are removed. */
const comparable = ({ origin, known }: Side, { text, headers }: ServiceResponse) =>
  known.label(
    (/json/.test(headers['content-type'] ?? '') ? withoutWhitespace(text) : withoutLatencies(text))
      .replaceAll(new URL(origin).host, '')
      .replace(/mst_\w+(,\w{4},[^,]*,)?/g, 'mst')
      .replace(/whsec_[\w+/=]+/g, 'whsec')
      .replace(/…\w{4}/g, '…')
      // The start of an id at the end of a text that was cut.
      .replace(/\b[a-z]{3}_[0-9a-v]{0,25}…/g, '…')
      .replace(/"latency_ms":\d+/g, '"latency_ms":1')
      // In a CSV cell, quotes of JSON are doubled.
      .replace(/"+(next_cursor|request_id|prefix|last_four|last_used_at)"+:(null|"+[^"]*"+)/g, '"$1":"…"'),
  );

/** In CSV, the latencies are the cells of a column. */
function withoutLatencies(text: string): string {
  const [header = '', ...rows] = text.split('\n');
  const at = header.trim().split(',').indexOf('latency_ms');
  if (at === -1) return text;
  const cells = new RegExp(`^((?:[^,]*,){${at}})\\d+`);
  return [header, ...rows.map((row) => row.replace(cells, '$1latency'))].join('\n');
}

/** The engines return the same JSON with different whitespace. */
const withoutWhitespace = (text: string) =>
  text
    .split('\n')
    .map((line) => (line === '' ? line : JSON.stringify(JSON.parse(line))))
    .join('\n');
