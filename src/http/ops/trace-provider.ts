import { context, propagation, type TextMapPropagator } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  CompositePropagator,
  getNumberFromEnv,
  getStringFromEnv,
  getStringListFromEnv,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { B3InjectEncoding, B3Propagator } from '@opentelemetry/propagator-b3';
import {
  defaultResource,
  detectResources,
  envDetector,
  hostDetector,
  osDetector,
  processDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { propagators, samplers } from '../../core/trace-settings.ts';
import { version } from '../../core/version.ts';

/**
 * Sets up tracing as the `OTEL_…` variables say. `@opentelemetry/sdk-node` would read them, too, but needs 51 more
 * packages, for logs, metrics, gRPC and instrumentation. The exporter and the resource detectors read theirs themselves.
 */
export function createTracerProvider(): TracerProvider {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(readPropagators());
  const detectors = [serviceInstanceIdDetector, processDetector, hostDetector, osDetector, envDetector];
  return new TracerProvider({
    sampler: readSampler(),
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'muster', 'service.version': version }))
      .merge(detectResources({ detectors })),
    spanProcessors: [new BatchSpanProcessor({ exporter: createExporter(), ...readBatchOptions() })],
  });
}

function createExporter() {
  const protocol =
    getStringFromEnv('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? getStringFromEnv('OTEL_EXPORTER_OTLP_PROTOCOL');
  return protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
}

/** The values of the variables are valid: `findTraceSettingErrors` checks them before. */
const samplerOf: Record<(typeof samplers)[number], () => Sampler> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: () => new TraceIdRatioBasedSampler(readRatio()),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: () => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(readRatio()) }),
};

function readSampler(): Sampler {
  const name = getStringFromEnv('OTEL_TRACES_SAMPLER');
  return samplerOf[samplers.find((sampler) => sampler === name) ?? 'parentbased_always_on']();
}

const readRatio = () => getNumberFromEnv('OTEL_TRACES_SAMPLER_ARG') ?? 1;

const propagatorOf: Record<(typeof propagators)[number], () => TextMapPropagator> = {
  tracecontext: () => new W3CTraceContextPropagator(),
  baggage: () => new W3CBaggagePropagator(),
  b3: () => new B3Propagator(),
  b3multi: () => new B3Propagator({ injectEncoding: B3InjectEncoding.MULTI_HEADER }),
  none: () => new CompositePropagator(),
};

function readPropagators(): TextMapPropagator {
  const names = getStringListFromEnv('OTEL_PROPAGATORS') ?? ['tracecontext', 'baggage'];
  return new CompositePropagator({
    propagators: propagators.filter((name) => names.includes(name)).map((name) => propagatorOf[name]()),
  });
}

function readBatchOptions() {
  const options = {
    maxQueueSize: getNumberFromEnv('OTEL_BSP_MAX_QUEUE_SIZE'),
    maxExportBatchSize: getNumberFromEnv('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
    scheduledDelayMillis: getNumberFromEnv('OTEL_BSP_SCHEDULE_DELAY'),
    exportTimeoutMillis: getNumberFromEnv('OTEL_BSP_EXPORT_TIMEOUT'),
  };
  // A value that is undefined would replace the default.
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
