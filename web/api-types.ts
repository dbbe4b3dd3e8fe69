import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Generates the types of the API from openapi.json for `openapi-fetch`, and the values of its enums. The usual generator
 * needs another version of TypeScript, and our schemas use only a small part of JSON Schema.
 */
export function writeApiTypes(): void {
  const document = JSON.parse(readFileSync(join(import.meta.dirname, '../openapi.json'), 'utf8')) as Document;
  writeFileSync(join(import.meta.dirname, 'src/api/openapi.ts'), apiTypes(document));
}

type Schema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
};
type Parameter = { name: string; in: string; required?: boolean; schema: Schema };
type Content = { content?: Record<string, { schema: Schema }> };
type Reference = { $ref: string };
type Operation = {
  parameters?: (Parameter | Reference)[];
  requestBody?: Content;
  responses: Record<string, Content | Reference>;
};
type Components = {
  schemas: Record<string, Schema>;
  parameters: Record<string, Parameter>;
  responses: Record<string, Content>;
};
type Document = { paths: Record<string, Record<string, Operation>>; components: Components };

const methods = ['get', 'put', 'post', 'patch', 'delete'];

function apiTypes({ paths, components }: Document): string {
  const pathTypes = Object.entries(paths).map(([path, operations]) => {
    const methodTypes = methods.map((method) => {
      const operation = operations[method];
      return `${method}${operation ? `: ${operationType(operation, components)}` : '?: never'};`;
    });
    return `${JSON.stringify(path)}: { parameters: {}; ${methodTypes.join(' ')} };`;
  });
  const schemaTypes = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};`,
  );
  const lines = [
    ...schemaTypes,
    ...enumValues(components.schemas),
    'export interface paths {',
    ...pathTypes,
    '}',
  ];
  return `// Generated from openapi.json.\n${lines.join('\n')}\n`;
}

/** The values of each property that is an enum or a list of one: `riskStatusValues`. */
const enumValues = (schemas: Record<string, Schema>) =>
  Object.entries(schemas).flatMap(([schemaName, { properties = {} }]) =>
    Object.entries(properties).flatMap(
      ([property, { items, anyOf, enum: values = items?.enum ?? anyOf?.[0]?.enum }]) => {
        if (!values) return [];
        const name = `${schemaName}_${property}_values`
          .replace(/^./, (letter) => letter.toLowerCase())
          .replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
        return `export const ${name} = ${JSON.stringify(values)} as const;`;
      },
    ),
  );

const referenced = <T extends object>(components: Record<string, T>, value: T | Reference): T =>
  '$ref' in value ? (components[value.$ref.slice(value.$ref.lastIndexOf('/') + 1)] as T) : value;

function operationType(
  { parameters = [], requestBody, responses }: Operation,
  components: Components,
): string {
  const locations = ['query', 'path'].map((location) => {
    const present = parameters
      .map((parameter) => referenced(components.parameters, parameter))
      .filter((parameter) => parameter.in === location);
    const members = present.map((one) => member(one.name, one.schema, one.required));
    const isOptional = !present.some((parameter) => parameter.required);
    return present.length > 0
      ? `${location}${isOptional ? '?' : ''}: { ${members.join(' ')} };`
      : `${location}?: never;`;
  });
  const responseTypes = Object.entries(responses).map(
    ([status, response]) =>
      `${status}: { headers: {}; ${contentType(referenced(components.responses, response))} };`,
  );
  const body = requestBody ? `requestBody: { ${contentType(requestBody)} };` : 'requestBody?: never;';
  return `{ parameters: { ${locations.join(' ')} }; ${body} responses: { ${responseTypes.join(' ')} } }`;
}

/** Only JSON is typed; the console reads the other formats as text. */
function contentType({ content = {} }: Content): string {
  const types = Object.entries(content).filter(([type]) => type.endsWith('json') && !type.includes('ndjson'));
  if (types.length === 0) return 'content?: never;';
  return `content: { ${types.map(([type, { schema }]) => `${JSON.stringify(type)}: ${typeOf(schema)};`).join(' ')} };`;
}

const member = (name: string, schema: Schema, isRequired = false) =>
  `${JSON.stringify(name)}${isRequired ? '' : '?'}: ${typeOf(schema)};`;

function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.replace('#/components/schemas/', '');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.type === undefined) return 'unknown';
  return [schema.type]
    .flat()
    .map((type) => typeByName(type, schema))
    .join(' | ');
}

function typeByName(type: string, { items, properties, patternProperties, required = [] }: Schema): string {
  if (type === 'integer') return 'number';
  if (type === 'array') return `(${items ? typeOf(items) : 'unknown'})[]`;
  if (type !== 'object') return type;
  const [pattern] = Object.values(patternProperties ?? {});
  if (pattern) return `Record<string, ${typeOf(pattern)}>`;
  if (!properties) return 'Record<string, unknown>';
  const members = Object.entries(properties).map(([name, one]) => member(name, one, required.includes(name)));
  return `{ ${members.join(' ')} }`;
}

if (import.meta.main) writeApiTypes();
