import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The id a client gave its request, if it can be trusted in a log and a header; else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  // A key that was sent in the wrong place must not get into the log.
  return typeof given === 'string' && /^[\w.:/+=~-]{1,128}$/.test(given) && !given.includes('mst_')
    ? given
    : randomUUID();
}

/** The trace that a request is part of (W3C Trace Context); what is not valid is as if it were not there. */
export function traceIdOf({ traceparent }: IncomingHttpHeaders): string | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, version, trace, parent, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(traceparent) ?? [];
  // Later versions may say more; this one says exactly this.
  const isValid =
    version !== undefined &&
    version !== 'ff' &&
    (version !== '00' || rest === undefined) &&
    !/^0+$/.test(parent ?? '');
  return isValid && !/^0+$/.test(trace ?? '') ? trace : undefined;
}
