import swagger from '@fastify/swagger';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { type ProblemCode, problems } from '../../core/errors.ts';
import { mediaTypes, Strict } from '../../core/schemas.ts';
import { joinWords } from '../../core/text.ts';
import { version } from '../../core/version.ts';
import { resources } from '../../resources/descriptors.ts';
import type { App } from '../fastify.ts';
import { contentEtag, sendWithEtag } from './etag.ts';
import { eventWebhooks } from './event-webhooks.ts';
import { describeHeaders, shareComponents } from './openapi-components.ts';
import { readOpenapiFile } from './openapi-file.ts';

// Some resources share a heading.
const tags = [...new Set<readonly [string, string]>(resources.map(({ tag }) => tag))];
// Before webhooks, which send them.
tags.splice(-1, 0, ['events', 'A log of all changes, to follow.']);
tags.push(['service', 'The service, and the key or person in use.']);

const ProblemBody = Type.Object(
  {
    type: Type.String({ description: 'The URL of a page that explains the error.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What went wrong, and what to do.' }),
    instance: Type.String(),
    code: Type.Unsafe<ProblemCode>({ type: 'string', enum: Object.keys(problems) }),
    request_id: Type.String(),
    errors: Type.Optional(
      Type.Array(
        Strict({
          pointer: Type.Optional(
            Type.String({ description: 'JSON Pointer into the body.', examples: ['#/email'] }),
          ),
          column: Type.Optional(Type.String({ description: 'Column of a file.', examples: ['E-mail'] })),
          parameter: Type.Optional(Type.String({ description: 'Query parameter.', examples: ['limit'] })),
          code: Type.String(),
          detail: Type.String(),
        }),
      ),
    ),
  },
  { $id: 'Problem', description: 'An error (RFC 9457). Some codes add members, such as `allowed`.' },
);

/** A form is accepted as well, but some generators cannot send an operation that takes a file as it is or in a form. */
const describedTypes = (accepted: readonly string[]) =>
  accepted.filter((type) => type !== 'multipart/form-data');

const FileBody = { type: 'string', format: 'binary', description: 'The file.' };

/** Generates the OpenAPI document from the schemas that validate requests. */
export async function describeApi(app: FastifyInstance): Promise<void> {
  const components: Record<string, unknown> = {};
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Muster',
        version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        description:
          'People, groups, projects, the ranked risk register and open issues. Lists are complete by default and ' +
          'paged on request. Unknown parameters and fields are rejected. Times are UTC; “today” is the day in the time ' +
          'zone of the organization, which `GET /v1/me` returns.',
      },
      tags: tags.map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          key: { type: 'http', scheme: 'bearer', description: 'An API key: `mst_…`.' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'muster_session',
            description:
              'A person who has signed in, in a browser. With https the name has the prefix `__Host-`. A write can name ' +
              'the session that it is meant for in the header `Muster-Session`: see `session_changed`.',
          },
        },
      },
    },
    transform: ({ schema, url, route }) => {
      const { response, ...request } = schema as Record<string, unknown> & {
        response?: Record<string, TSchema>;
      };
      const described = {
        ...security(route),
        ...(route.method === 'PATCH' && { consumes: ['application/json', 'application/merge-patch+json'] }),
        ...request,
        ...(route.config?.accepts && { consumes: describedTypes(route.config.accepts), body: FileBody }),
        response: { ...responsesOf(route, response), ...errorsOf(route) },
      };
      return { schema: withReferences(described, components) as typeof schema, url };
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) return document.swaggerObject;
      const { openapiObject } = document;
      Object.assign(openapiObject, { webhooks: withReferences(eventWebhooks(), components) });
      for (const schema of Object.values(components)) describeDefaults(schema as ObjectSchema);
      Object.assign(openapiObject.components ?? {}, { schemas: components });
      for (const { parameters = [], requestBody, responses } of operationsOf(openapiObject)) {
        Object.values(responses).forEach(describeOnlyJson);
        for (const parameter of parameters) {
          if (parameter.schema?.type === 'array') Object.assign(parameter, { style: 'form', explode: false });
        }
        if (requestBody) requestBody.required = needsBody(requestBody, components);
      }
      describeHeaders(openapiObject as never);
      shareComponents(openapiObject as never);
      return openapiObject;
    },
  });
}

export function openapiRoute(app: App): void {
  let cached: { text: string; tag: string } | undefined;
  const createDocument = () => {
    const text = JSON.stringify({ ...JSON.parse(readOpenapiFile()), servers: [{ url: app.baseUrl }] });
    return { text, tag: contentEtag(text) };
  };
  // Read before the first client connects, because clients can use up all file descriptors.
  app.addHook('onListen', async () => {
    readOpenapiFile();
  });

  app.get(
    '/v1/openapi.json',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'getOpenapi',
        summary: 'Get the OpenAPI 3.1 document',
        tags: ['service'],
        response: { 200: Type.Object({ openapi: Type.String() }, { description: 'An OpenAPI document.' }) },
      },
    },
    async (request, reply) => {
      cached ??= createDocument();
      reply.type('application/json; charset=utf-8');
      return sendWithEtag(request, reply, cached.tag, cached.text);
    },
  );
}

type Parameter = { schema?: { type?: unknown } };
type RequestBody = { required?: boolean; content: Record<string, { schema?: { $ref?: string } }> };
type Response = { description: string; content?: Record<string, unknown>; 'x-media-types'?: string[] };
type Operation = {
  parameters?: Parameter[];
  requestBody?: RequestBody;
  responses: Record<string, Response>;
};

const operationsOf = ({ paths = {} }: { paths?: object }): Operation[] =>
  Object.values(paths).flatMap((path) => Object.values(path));

/**
 * Moves the other media types of a JSON response into an extension. Generated clients would type it as “JSON or text”
 * otherwise, or return the stream of a response that can be NDJSON.
 */
function describeOnlyJson(response: Response): void {
  const { 'application/json': json, ...others } = response.content ?? {};
  const types = Object.keys(others);
  if (json === undefined || types.length === 0) return;
  response.content = { 'application/json': json };
  response.description += ` With \`Accept\` also ${joinWords(types.map((type) => `\`${type}\``))}.`;
  response['x-media-types'] = types;
}

type ObjectSchema = { properties?: Record<string, Property>; required?: string[] };
type Property = { description?: string; default?: unknown };

/**
 * Describes the defaults of optional fields in words. openapi-typescript requires a field that has a default, which is
 * wrong in the body of a request.
 */
function describeDefaults({ properties = {}, required = [] }: ObjectSchema): void {
  for (const [name, { default: preset, ...property }] of Object.entries(properties)) {
    if (preset === undefined || required.includes(name)) continue;
    const sentence = `Default: \`${typeof preset === 'string' ? preset : JSON.stringify(preset)}\`.`;
    properties[name] = {
      ...property,
      description: [property.description, sentence].filter(Boolean).join(' '),
    };
  }
}

/** A body without required fields is optional. */
function needsBody({ content }: RequestBody, components: Record<string, unknown>): boolean {
  const isFile = content['application/json'] === undefined;
  const name = content['application/json']?.schema?.$ref?.split('/').at(-1) ?? '';
  const { required = [] } = (components[name] ?? {}) as { required?: string[] };
  return isFile || required.length > 0;
}

const security = ({ config }: RouteOptions) =>
  config?.access === 'public' || !config?.access
    ? { security: [] }
    : config.access === 'person'
      ? { security: [{ session: [] }] }
      : {
          security: [{ key: config.access === 'any' ? [] : [config.access] }, { session: [] }],
          ...(config.access !== 'any' && { 'x-scope': config.access }),
        };

/** A response is JSON; its schema or its route can add other media types. */
function responsesOf({ config }: RouteOptions, response: Record<string, TSchema> = {}) {
  return Object.fromEntries(
    Object.entries(response).map(([status, schema]) => {
      const description = String((schema as { description?: string }).description ?? 'Done.');
      if (status === '204') return [status, { description, type: 'null' }];
      if ('content' in schema) return [status, { description, content: schema.content }];
      const { [mediaTypes]: listTypes = [], ...described } = schema as TSchema & { [mediaTypes]?: string[] };
      const otherTypes = [...listTypes, ...(config?.produces ?? [])];
      const content = Object.fromEntries(
        [...new Set(['application/json', ...otherTypes])].map((type) => [
          type,
          { schema: type === 'application/json' ? described : { type: 'string' } },
        ]),
      );
      return [status, { description, content }];
    }),
  );
}

/** Combines the errors of every route, those implied by access, parameters and body, and those the route declares. */
function errorsOf({ method, config, schema }: RouteOptions) {
  const codes: ProblemCode[] = ['unavailable', 'internal', 'not_acceptable', 'malformed_request'];
  if (config?.access !== 'public') codes.push('unauthenticated', 'rate_limited');
  if (config?.access === 'person') codes.push('person_required');
  else if (config?.access !== 'public' && config?.access !== 'any') codes.push('insufficient_scope');
  if (config?.requiresRecentSignIn) codes.push('sign_in_again');
  if (config?.requiresUnrestrictedKey || /^(personnel|projects)\.manage$/.test(config?.access ?? ''))
    codes.push('key_limited');
  const { params, querystring } = (schema ?? {}) as { params?: TSchema; querystring?: TSchema };
  if (params) codes.push('not_found', 'uri_too_long');
  if (querystring) codes.push('unknown_parameter', 'invalid_parameter');
  if (querystring && 'cursor' in (querystring as { properties: object }).properties) {
    codes.push('cursor_mismatch');
  }
  // Bodies are parsed before routing decides whether one is expected, so these errors apply to every write.
  if (![method].flat().includes('GET'))
    codes.push('too_large', 'unsupported_media_type', 'invalid_body', 'cross_origin');
  if (config?.access !== 'public' && ![method].flat().includes('GET')) codes.push('session_changed');
  codes.push(...(config?.errors ?? []));
  const statuses = Map.groupBy(new Set(codes), (code) => problems[code].status);
  return Object.fromEntries(
    [...statuses].map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map((code) => `\`${code}\`: ${problems[code].title}.`).join(' '),
        content: { 'application/problem+json': { schema: ProblemBody } },
      },
    ]),
  );
}

/** Moves every schema with an `$id` into the components, and replaces it with a reference. */
function withReferences(value: unknown, components: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, components));
  if (typeof value !== 'object' || value === null) return value;
  const { $id, ...rest } = withoutNullInEnum(value as Record<string, unknown>);
  const copy = Object.fromEntries(
    Object.entries(rest).map(([name, member]) => [name, withReferences(member, components)]),
  );
  if (typeof $id !== 'string') return copy;
  if ($id in components && JSON.stringify(components[$id]) !== JSON.stringify(copy))
    throw new Error(`Two schemas have the $id ${$id}. Rename one of them.`);
  components[$id] = copy;
  return { $ref: `#/components/schemas/${$id}` };
}

/** Some generators of clients take each value of an enum for a text, so `null` stands beside it. */
function withoutNullInEnum(schema: Record<string, unknown>) {
  const { type, enum: values, ...rest } = schema;
  if (!Array.isArray(values) || !Array.isArray(type)) return schema;
  return {
    ...rest,
    anyOf: [{ type: type[0], enum: values.filter((value) => value !== null) }, { type: 'null' }],
  };
}
