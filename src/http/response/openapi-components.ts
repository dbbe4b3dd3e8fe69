/** The part of an OpenAPI document that is completed here. */
type Document = { paths: Record<string, Record<string, Operation>>; components: Record<string, unknown> };
type Parameter = { name: string; in: string; required?: boolean; schema: unknown };
type Reference = { $ref: string };
type Response = { description: string; headers?: Record<string, Reference>; content?: Content };
type Content = Record<string, unknown>;
type Operation = {
  tags?: string[];
  security?: unknown[];
  parameters?: (Parameter | Reference)[];
  responses: Record<string, Response | Reference>;
};

const text = (description: string, example: string) => ({
  description,
  schema: { type: 'string', maxLength: 1000 },
  example,
});

const requestHeaders = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    ...text(
      'Makes the request take effect once: a repetition with the same key and body gets the stored response, for 24 hours. Up to 255 printable ASCII characters.',
      '2f1d7c0e-6c1b-4f7e-9a55-0f3a4d1b7c11',
    ),
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    ...text(
      'The `ETag` you read, or the version in quotes. If the resource has changed since, the response is 412.',
      '"3"',
    ),
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    ...text(
      'The `ETag` of the response you have. If it is still current, the response is 304.',
      '"3-mi5n2k0a.nPjGkOqD3m1zVbXo4wQe2A"',
    ),
  },
};

const responseHeaders = {
  ETag: text(
    'The version of the content, for `If-None-Match` and `If-Match`.',
    '"3-mi5n2k0a.nPjGkOqD3m1zVbXo4wQe2A"',
  ),
  Location: text(
    'The URL of the new resource.',
    'https://ops.example.com/v1/groups/grp_01jd3k9m5vqs8h2n6r4t0c7e1b',
  ),
  Link: text(
    'The URL of the next page, if there is one.',
    '<https://ops.example.com/v1/groups?limit=2&cursor=…>; rel="next"',
  ),
  'Idempotent-Replayed': text(
    '`true` if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    'true',
  ),
  'RateLimit-Policy': text('The quota of the key and its window in seconds.', '"key";q=600;w=60'),
  RateLimit: text('The remaining requests, and the seconds until the window ends.', '"key";r=599;t=60'),
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
};

const headers = (...names: (keyof typeof responseHeaders)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Adds the headers of requests and responses, and 304, which follow from what an operation can respond. */
export function describeHeaders({ paths, components }: Document): void {
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { responses, parameters = [] } = operation as {
        responses: Record<string, Response>;
        parameters?: Parameter[];
      };
      const canRespond = (status: string, code: string) =>
        responses[status]?.description.includes(`\`${code}\``);
      const isIdempotent = canRespond('422', 'idempotency_mismatch');
      const isTagged = method === 'get' && path.startsWith('/v1/') && responses[200] !== undefined;
      const names: (keyof typeof requestHeaders)[] = [];
      if (isIdempotent) names.push('IdempotencyKey');
      const isVersioned = canRespond('412', 'stale');
      if (isVersioned) names.push('IfMatch');
      if (isTagged) {
        names.push('IfNoneMatch');
        responses[304] = { description: 'You already have the current content.', headers: headers('ETag') };
      }
      const added = names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
      if (added.length > 0) operation.parameters = [...parameters, ...added];

      const isPaged = parameters.some(({ name }) => name === 'cursor');
      const hasKey = operation.security?.length !== 0;
      for (const [status, response] of Object.entries(responses)) {
        const isSuccess = status.startsWith('2');
        response.headers = {
          ...(isSuccess &&
            status !== '204' &&
            (isTagged || isVersioned || status === '201') &&
            headers('ETag')),
          ...(status === '201' && headers('Location')),
          ...(isSuccess && isPaged && headers('Link')),
          ...(isSuccess && isIdempotent && headers('Idempotent-Replayed')),
          ...(hasKey &&
            (isSuccess || status === '304' || status === '429') &&
            headers('RateLimit-Policy', 'RateLimit')),
          ...((status === '429' || status === '503') && headers('Retry-After')),
          ...response.headers,
        };
        if (Object.keys(response.headers).length === 0) delete response.headers;
      }
    }
  }
  Object.assign(components, { headers: responseHeaders });
}

/**
 * Moves the parameters and error responses that several operations have into the components. They are used more than a
 * thousand times, and there are about a hundred different ones.
 */
export function shareComponents({ paths, components }: Document): void {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const parameters = sharer('parameters');
  const responses = sharer('responses');
  for (const operation of operations) {
    const [tag = ''] = operation.tags ?? [];
    const described = operation.parameters?.map((parameter) =>
      '$ref' in parameter
        ? parameter
        : parameters.share(parameter, parameter.name, `${parameter.name}.${tag}`),
    );
    if (described) operation.parameters = described;
    for (const [status, response] of Object.entries(operation.responses)) {
      if ('$ref' in response || Number(status) < 300) continue;
      const codes = [...response.description.matchAll(/`(\w+)`:/g)].map(([, code]) => code);
      const name = codes.join('.') || 'not_modified';
      operation.responses[status] = responses.share(response, name, `${name}.key`);
    }
  }
  Object.assign(components, {
    parameters: { ...requestHeaders, ...parameters.shared },
    responses: responses.shared,
  });
}

/** Equal values get the same name: the first one that is free. */
function sharer(kind: string) {
  const shared: Record<string, unknown> = {};
  const names = new Map<string, string>();
  return {
    shared,
    share(value: object, ...candidates: string[]): Reference {
      const content = JSON.stringify(value);
      const name = names.get(content) ?? freeName(shared, candidates);
      names.set(content, name);
      shared[name] = value;
      return { $ref: `#/components/${kind}/${name}` };
    },
  };
}

function freeName(taken: Record<string, unknown>, candidates: string[]): string {
  const free = candidates.find((name) => !(name in taken));
  if (free !== undefined) return free;
  const last = candidates.at(-1) ?? '';
  for (let number = 2; ; number++) if (!(`${last}${number}` in taken)) return `${last}${number}`;
}
