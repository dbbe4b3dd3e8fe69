/** The encoding to use, if the client prefers one to none, and whether it accepts an unencoded response. */
export type EncodingChoice<T extends string> = { encoding: T | undefined; acceptsIdentity: boolean };

/** Reads `Accept-Encoding` (RFC 9110, 12.5.3). Of equally weighted encodings the first of `available` is used. */
export function preferredEncoding<T extends string>(
  header: string | undefined,
  available: readonly T[],
): EncodingChoice<T> {
  const weights = parseWeights((header ?? '').replace(/\bx-gzip\b/gi, 'gzip'));
  const wildcard = weights.get('*');
  // An `identity` that is not listed is acceptable, but any listed encoding is preferred.
  const identity = weights.get('identity') ?? (wildcard === 0 ? 0 : Number.MIN_VALUE);
  let encoding: T | undefined;
  let best = 0;
  for (const name of available) {
    const weight = weights.get(name) ?? wildcard ?? 0;
    if (weight > best) [encoding, best] = [name, weight];
  }
  return { encoding: best >= identity ? encoding : undefined, acceptsIdentity: identity > 0 };
}

/**
 * Reads `Accept` (RFC 9110, 12.5.1): the type with the greatest weight, undefined when none is acceptable. Of equally
 * weighted types the one that the header names first is used, then the first of `available`.
 */
export function preferredType<T extends string>(
  header: string | undefined,
  available: readonly T[],
): T | undefined {
  const weights = parseWeights(header?.trim() || '*/*');
  const ranges = [...weights.keys()];
  let preferred: T | undefined;
  let best = { weight: 0, position: 0 };
  for (const type of available) {
    const range = [type, `${type.split('/')[0]}/*`, '*/*'].find((candidate) => weights.has(candidate));
    if (range === undefined) continue;
    const match = { weight: weights.get(range) ?? 0, position: ranges.indexOf(range) };
    const isBetter =
      match.weight > best.weight || (match.weight === best.weight && match.position < best.position);
    if (match.weight > 0 && isBetter) [preferred, best] = [type, match];
  }
  return preferred;
}

/** Names with their weights, in the order of the header. Other parameters are ignored; a malformed weight counts as 0. */
function parseWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const element of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = element.split(';').map((part) => part.trim());
    const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
    if (name !== '') weights.set(name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  return weights;
}
