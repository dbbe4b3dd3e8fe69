import { accessSync, constants } from 'node:fs';

/** The standard variables of OpenTelemetry that apply here. The SDK reads them, and ignores values that it cannot use. */

export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export const propagators = ['tracecontext', 'baggage', 'b3', 'b3multi', 'none'] as const;

type Environment = Readonly<Record<string, string | undefined>>;
type Check = { expected: string; accepts(text: string): boolean; isSecret?: true };

const oneOf = (values: readonly string[]): Check => ({
  expected: `one of ${values.join(', ')}`,
  accepts: (text) => values.includes(text),
});

const number = (min: number, max: number): Check => ({
  expected: max === Number.MAX_SAFE_INTEGER ? `a number from ${min}` : `a number from ${min} to ${max}`,
  accepts: (text) => Number(text) >= min && Number(text) <= max,
});

const numberFrom = (min: number) => number(min, Number.MAX_SAFE_INTEGER);

const pairs: Check = {
  expected: 'pairs separated by commas, such as name=value, with other characters percent-encoded',
  accepts: (text) => text.split(',').every((pair) => /^\s*[^\s=,;"\\]+\s*=/.test(pair) && isDecodable(pair)),
};

const file: Check = { expected: 'a file that can be read', accepts: isReadable };

/** Each also in a form for traces only, such as `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`. */
const exporterVariables: Record<string, Check> = {
  ENDPOINT: {
    expected: 'the http or https URL of a collector, such as http://127.0.0.1:4318',
    accepts: (text) => /^https?:\/\//.test(text) && URL.canParse(text),
  },
  PROTOCOL: { ...oneOf(['http/protobuf', 'http/json']), expected: 'http/protobuf or http/json' },
  COMPRESSION: oneOf(['none', 'gzip']),
  TIMEOUT: numberFrom(1),
  HEADERS: { ...pairs, isSecret: true },
  CERTIFICATE: file,
  CLIENT_CERTIFICATE: file,
  CLIENT_KEY: file,
};

const variables: Record<string, Check> = {
  ...Object.fromEntries(
    Object.entries(exporterVariables).flatMap(([name, check]) => [
      [`OTEL_EXPORTER_OTLP_${name}`, check],
      [`OTEL_EXPORTER_OTLP_TRACES_${name}`, check],
    ]),
  ),
  OTEL_TRACES_EXPORTER: oneOf(['otlp', 'none']),
  OTEL_SDK_DISABLED: {
    expected: 'true or false',
    accepts: (text) => ['true', 'false'].includes(text.toLowerCase()),
  },
  OTEL_TRACES_SAMPLER: oneOf(samplers),
  OTEL_TRACES_SAMPLER_ARG: number(0, 1),
  OTEL_PROPAGATORS: {
    expected: `some of ${propagators.join(', ')}, separated by commas`,
    accepts: (text) =>
      text.split(',').every((name) => propagators.some((propagator) => propagator === name.trim())),
  },
  OTEL_RESOURCE_ATTRIBUTES: pairs,
  OTEL_BSP_MAX_QUEUE_SIZE: numberFrom(1),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: numberFrom(1),
  OTEL_BSP_SCHEDULE_DELAY: numberFrom(0),
  OTEL_BSP_EXPORT_TIMEOUT: numberFrom(0),
};

/** Whether traces are sent. Other programs have these variables too, so they count only with the address of a collector. */
export const sendsTraces = (environment: Environment) =>
  Boolean(environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) &&
  environment.OTEL_SDK_DISABLED?.toLowerCase() !== 'true' &&
  environment.OTEL_TRACES_EXPORTER !== 'none';

/** Names each variable whose value the SDK would ignore or fail with. */
export function findTraceSettingErrors(environment: Environment): string[] {
  if (!sendsTraces(environment)) return [];
  return Object.entries(variables).flatMap(([name, { expected, accepts, isSecret }]) => {
    const text = environment[name]?.trim();
    if (!text || accepts(text)) return [];
    return isSecret ? `${name} must be ${expected}` : `${name} is “${text}” but must be ${expected}`;
  });
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
