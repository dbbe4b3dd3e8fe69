/** The part of an OpenAPI document that the reference page shows. */
export type OpenApi = {
  info: { version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  webhooks: Record<string, { post: Pick<OperationObject, 'operationId' | 'summary' | 'requestBody'> }>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    responses: Record<string, Response>;
  };
};

type Reference = { $ref: string };
type Response = { description: string; content?: Content; 'x-media-types'?: string[] };

type OperationObject = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { content: Content };
  responses: Record<string, Response | Reference>;
  security?: unknown[];
  'x-scope'?: string;
};

/** An operation without references to parameters and responses. */
export type Operation = Omit<OperationObject, 'parameters' | 'responses'> & {
  method: string;
  path: string;
  parameters: Parameter[];
  responses: Record<string, Response>;
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: Schema;
};

export type Content = Record<string, { schema?: Schema }>;

export type Schema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  default?: unknown;
  examples?: unknown[];
  description?: string;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  'x-set-by-service'?: string[];
};

const operationsOf = ({ paths, components }: OpenApi): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], responses, ...operation }]) => ({
      ...operation,
      method,
      path,
      parameters: parameters.map((parameter) => referenced(components.parameters, parameter)),
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [
          status,
          referenced(components.responses, response),
        ]),
      ),
    })),
  );

const referenced = <T extends object>(components: Record<string, T>, value: T | Reference): T =>
  '$ref' in value ? (components[schemaName(value.$ref)] as T) : value;

/** The tags with their operations, in page order. */
export function groupsOf(document: OpenApi) {
  const operations = operationsOf(document);
  return document.tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ tags }) => tags[0] === tag.name),
  }));
}

/** The events that a webhook can receive. */
export const eventsOf = ({ webhooks }: OpenApi): WebhookEvent[] =>
  Object.entries(webhooks).map(([type, { post }]) => ({
    type,
    id: post.operationId,
    summary: post.summary,
    body: jsonSchema(post.requestBody?.content) ?? {},
  }));

export type WebhookEvent = { type: string; id: string; summary: string; body: Schema };

/** The operations and events that refer to each schema, by the name of the schema. */
export function usesOfSchemas(document: OpenApi): Map<string, SchemaUses> {
  const uses = new Map<string, SchemaUses>();
  const usesOf = (name: string) => {
    const known = uses.get(name) ?? { names: [], isRequestBody: false };
    uses.set(name, known);
    return known;
  };
  for (const operation of operationsOf(document)) {
    for (const name of referencesIn(operation)) usesOf(name).names.push(operation.operationId);
    const body = jsonSchema(operation.requestBody?.content)?.$ref;
    if (body) usesOf(schemaName(body)).isRequestBody = true;
  }
  for (const { id, body } of eventsOf(document))
    for (const name of referencesIn(body)) usesOf(name).names.push(id);
  return uses;
}

export type SchemaUses = { names: string[]; isRequestBody: boolean };

const referencesIn = (value: object) =>
  new Set(
    Array.from(JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g), ([, name = '']) => name),
  );

export const schemasOf = ({ components }: OpenApi) =>
  Object.entries(components.schemas).sort(([one], [other]) => one.localeCompare(other));

export const schemaName = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1);

export const isPublic = ({ security }: Operation) => security?.length === 0;

/** Only a person who has signed in can use it. */
export const isForPeople = ({ security = [] }: Operation) =>
  security.length > 0 && security.every((one) => !('key' in (one as object)));

export const resolved = ({ components }: OpenApi, schema: Schema): Schema =>
  schema.$ref ? (components.schemas[schemaName(schema.$ref)] ?? {}) : schema;

/** The schema of a JSON media type: plain JSON, merge patch or problem. */
export const jsonSchema = (content: Content = {}) =>
  Object.entries(content).find(([type]) => /[/+]json$/.test(type))?.[1].schema;
