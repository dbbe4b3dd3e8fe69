import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Uses the client's request id if it is safe to log and to send back; otherwise creates one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  // An API key sent in the wrong header must not be logged.
  return typeof given === 'string' && /^[\w.:/+=~-]{1,128}$/.test(given) && !given.includes('mst_')
    ? given
    : randomUUID();
}

/** Reads the trace id (W3C Trace Context). An invalid header is ignored. */
export function traceIdOf({ traceparent }: IncomingHttpHeaders): string | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, version, trace, parent, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(traceparent) ?? [];
  // Later versions may add fields; version 00 has none.
  const isValid =
    version !== undefined &&
    version !== 'ff' &&
    (version !== '00' || rest === undefined) &&
    !/^0+$/.test(parent ?? '');
  return isValid && !/^0+$/.test(trace ?? '') ? trace : undefined;
}
