/** Labels tell the series of a metric apart. */
export type Labels = Record<string, string | number>;

/** The upper bounds of what times are counted in, in seconds; longer ones are in `+Inf` alone. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Labelled = { method: string; route: string; status: number };
type Times = { labels: Labelled; counts: number[]; sum: number };

/** What has been answered since the start. */
export class Answered {
  readonly #times = new Map<string, Times[]>();

  record(method: string, route: string, status: number, milliseconds: number): void {
    const times = this.#timesOf(method, route, status);
    const seconds = milliseconds / 1000;
    let bucket = 0;
    while (bucket < bounds.length && seconds > (bounds[bucket] as number)) bucket++;
    times.counts[bucket] = (times.counts[bucket] ?? 0) + 1;
    times.sum += seconds;
  }

  #timesOf(method: string, route: string, status: number): Times {
    const ofRoute = this.#times.get(route) ?? [];
    for (const times of ofRoute) {
      if (times.labels.status === status && times.labels.method === method) return times;
    }
    const times = { labels: { method, route, status }, counts: Array(bounds.length + 1).fill(0), sum: 0 };
    this.#times.set(route, [...ofRoute, times]);
    return times;
  }

  lines(): string[] {
    const name = 'muster_http_request_seconds';
    return [
      ...heading(name, 'histogram', 'How long requests took, from their headers to the end of the answer.'),
      ...[...this.#times.values()].flat().flatMap(({ labels, counts, sum }) => {
        let total = 0;
        const buckets = [...bounds, '+Inf'].map((le, i) => {
          total += counts[i] ?? 0;
          return line(`${name}_bucket`, { ...labels, le }, total);
        });
        return [...buckets, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, total)];
      }),
    ];
  }
}

export const heading = (name: string, type: string, help: string) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

export function line(name: string, labels: Labels, value: number): string {
  const told = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  return `${name}${told.length > 0 ? `{${told}}` : ''} ${value}`;
}
