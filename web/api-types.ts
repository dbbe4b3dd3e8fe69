import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the types of the API, from openapi.json, for `openapi-fetch`. The usual generator needs a TypeScript of its own
 * beside the one of this repository; what TypeBox makes of our schemas is a small part of JSON Schema.
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
type Operation = { parameters?: Parameter[]; requestBody?: Content; responses: Record<string, Content> };
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

const methods = ['get', 'put', 'post', 'patch', 'delete'];

function apiTypes({ paths, components }: Document): string {
  const ofPaths = Object.entries(paths).map(([path, operations]) => {
    const ofMethods = methods.map((method) => {
      const operation = operations[method];
      return `${method}${operation ? `: ${operationType(operation)}` : '?: never'};`;
    });
    return `${JSON.stringify(path)}: { parameters: {}; ${ofMethods.join(' ')} };`;
  });
  const named = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};`,
  );
  return `// Made from openapi.json.\n${named.join('\n')}\nexport interface paths {\n${ofPaths.join('\n')}\n}\n`;
}

function operationType({ parameters = [], requestBody, responses }: Operation): string {
  const places = ['query', 'path'].map((place) => {
    const here = parameters.filter((parameter) => parameter.in === place);
    const members = here.map((one) => member(one.name, one.schema, one.required));
    const isOptional = !here.some((parameter) => parameter.required);
    return here.length > 0
      ? `${place}${isOptional ? '?' : ''}: { ${members.join(' ')} };`
      : `${place}?: never;`;
  });
  const answers = Object.entries(responses).map(
    ([status, answer]) => `${status}: { headers: {}; ${content(answer)} };`,
  );
  const body = requestBody ? `requestBody: { ${content(requestBody)} };` : 'requestBody?: never;';
  return `{ parameters: { ${places.join(' ')} }; ${body} responses: { ${answers.join(' ')} } }`;
}

/** The other formats are texts, which the console reads as such. */
function content({ content = {} }: Content): string {
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
    .map((type) => typeNamed(type, schema))
    .join(' | ');
}

function typeNamed(type: string, { items, properties, patternProperties, required = [] }: Schema): string {
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
