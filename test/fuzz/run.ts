import fc, { type Arbitrary } from 'fast-check';
import { watchLoop } from '../loop-stall.ts';
import { type Exchange, findDifferences } from './differences.ts';
import { type Description, describe } from './document.ts';
import { type Actor, type Draft, wireOf } from './draft.ts';
import { followUp } from './follow-up.ts';
import { recordResources } from './known.ts';
import { checkResponse } from './oracle.ts';
import { draftOf, type Plan, plansOf, validPlansFor } from './plans.ts';
import { asCurl, openAgent, type ServiceResponse, send } from './send.ts';
import type { Side, Target } from './target.ts';

export type Options = {
  seed: number;
  requests: number;
  /** Requests in flight at a time. Services are compared only when it is 1. */
  atOnce?: number;
  /** Called before each step to advance the services' clock. */
  tick?: () => void;
  onProgress?: (done: number) => void;
  /** The run ends after this many distinct failures. */
  maxFailures?: number;
};

export type Failure = { error: string; request: number; curl: string; response: string };
export type Outcome = {
  requests: number;
  /** How often the first target returned each status, by operation. */
  statuses: Map<string, Map<number, number>>;
  failures: Failure[];
};

/**
 * All services and the fuzzer share one event loop, so this catches only very long stalls;
 * `src/http/request/hostile.long.test.ts` checks the exact bound for each route.
 */
const maxStallMs = 1000;

/** How many smaller variants of a failing request are sent. */
const maxShrinkAttempts = 200;

/** Thrown to fast-check, which then shrinks the request. */
class FuzzError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(`${failure.error}\n${failure.curl}\n${failure.response}`);
    this.failure = failure;
  }

  /** Two failures with the same signature count as one. */
  static signature = (operation: string, error: string) =>
    `${/not documented/.test(error) ? operation : ''}: ${error.replace(/"[^"]*"|“[^”]*”|\d{4,}|[a-z]{3}_[0-9a-v]{26}|\(.*\)/g, '…').slice(0, 160)}`;
}

/**
 * Sends valid and invalid requests generated from the services' OpenAPI document, and checks every response.
 * Several services get the same requests, and their responses must match.
 */
export async function fuzz(targets: [Target, ...Target[]], options: Options): Promise<Outcome> {
  const { seed, requests, atOnce = 1, tick = () => {}, onProgress = () => {}, maxFailures = 10 } = options;
  const description = describe(await fetchDocument(targets[0]));
  const sides: Side[] = targets.map((target) => ({
    ...target,
    known: recordResources(description, target.keys.ids),
    agent: openAgent(),
  }));
  const outcome: Outcome = { requests: 0, statuses: new Map(), failures: [] };
  const seen = new Set<string>();
  /** The signature of the failure that fast-check is shrinking. */
  let shrinking: string | undefined;
  let attempts = 0;

  async function step(plans: Plan[]): Promise<void> {
    tick();
    // Wait for all requests before the next step, also when one fails.
    const results = await Promise.allSettled(plans.map(runPlan));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async function runPlan(plan: Plan): Promise<void> {
    const exchanges = await Promise.all(sides.map((side) => sendPlan(side, plan)));
    if (shrinking === undefined)
      countStatus(outcome, plan.operation.name, exchanges[0]?.response.status ?? 0);
    const errors = exchanges.flatMap(({ errors }) => errors);
    if (atOnce === 1 && errors.length === 0) errors.push(...findDifferences(exchanges));
    for (const error of errors) {
      const signature = FuzzError.signature(plan.operation.name, error);
      if (seen.has(signature) || (shrinking !== undefined && shrinking !== signature)) continue;
      shrinking = signature;
      const { wire, response } =
        exchanges.find((exchange) => exchange.errors.includes(error)) ?? (exchanges[0] as Exchange);
      throw new FuzzError({
        error: `${plan.operation.name}: ${error}`,
        request: outcome.requests,
        curl: asCurl(wire),
        response: `${response.status} ${response.text.slice(0, 1500)}`,
      });
    }
  }

  async function sendPlan(side: Side, plan: Plan): Promise<Exchange> {
    const draft = draftOf(plan, side.known);
    const wire = wireOf(draft, bearerToken(side, draft, plan.pick));
    const loop = draft.isOversized && watchLoop();
    const response = await send(side.origin, side.agent, wire).catch(noResponse);
    const errors = errorsOf(side, draft, response);
    if (loop) {
      const stallMs = loop.takeMaxMs();
      loop.stop();
      if (stallMs > maxStallMs) errors.push(`blocks the event loop for ${Math.round(stallMs)} ms`);
    }
    // Shrinking must replay the same request, so nothing new is recorded meanwhile.
    if (shrinking === undefined && draft.targetsOperation)
      side.known.learn(plan.operation, draft.params, response, plan.pick);
    if (errors.length === 0 && atOnce === 1) {
      const exchange = { side, plan, draft, wire, response };
      errors.push(...(await followUp(exchange).catch((error) => [noResponse(error).text])));
    }
    return { side, draft, wire, response, errors };
  }

  function errorsOf(side: Side, draft: Draft, response: ServiceResponse): string[] {
    if (response.status === 0) return [response.text];
    try {
      return checkResponse(description, side, draft, response);
    } catch (error) {
      return [`cannot be parsed: ${error instanceof Error ? error.message : error}`];
    }
  }

  await seedResources(description, sides, seed, tick);
  for (const side of sides) await createLimitedKey(description, side);
  const plans = plansOf(description.operations);
  let round = 0;
  while (outcome.requests < requests && outcome.failures.length < maxFailures) {
    shrinking = undefined;
    attempts = 0;
    const steps = Math.ceil((requests - outcome.requests) / atOnce);
    const property = fc.asyncProperty(
      fc.array(plans, { minLength: atOnce, maxLength: atOnce }),
      async (burst) => {
        if (shrinking !== undefined && ++attempts > maxShrinkAttempts) return;
        await step(burst);
        onProgress(outcome.requests);
      },
    );
    const result = await fc.check(property, { seed: seed + round, numRuns: steps });
    if (!result.failed) break;
    if (!(result.errorInstance instanceof FuzzError))
      throw result.errorInstance ?? new Error('The run was interrupted.');
    outcome.failures.push(result.errorInstance.failure);
    if (shrinking !== undefined) seen.add(shrinking);
    round++;
  }
  for (const { agent } of sides) agent.destroy();
  return outcome;
}

async function fetchDocument({ origin }: Target): Promise<object> {
  const response = await fetch(`${origin}/v1/openapi.json`);
  return (await response.json()) as object;
}

/** Creates resources of every kind, so that requests can refer to existing ones from the start. */
async function seedResources(
  { operations }: Description,
  sides: Side[],
  seed: number,
  tick: () => void,
): Promise<void> {
  const creations = operations.filter(({ method, responses }) => method === 'POST' && responses[201]);
  // Parents first: nested resources are created inside them.
  creations.sort((a, b) => a.template.split('/').length - b.template.split('/').length);
  for (let round = 0; round < 3; round++) {
    for (const operation of creations) {
      const plans = fc.sample(validPlansFor(operation, operations) as Arbitrary<Plan>, {
        seed: seed + round,
        numRuns: 4,
      });
      for (const plan of plans) {
        tick();
        await Promise.all(
          sides.map(async ({ origin, agent, known, keys }) => {
            const draft = draftOf(plan, known);
            const response = await send(origin, agent, wireOf(draft, keys.all));
            known.learn(operation, draft.params, response, 1);
          }),
        );
      }
    }
  }
}

/** Creates a key limited to one project, if the service supports that. It must never see another project. */
async function createLimitedKey(
  { operations }: Description,
  { origin, agent, known, keys }: Side,
): Promise<void> {
  for (const { method, template, requestBody } of operations) {
    const { project_ids, scopes } = requestBody?.content['application/json']?.schema?.properties ?? {};
    if (method !== 'POST' || !project_ids || !scopes) continue;
    const project = known.refer(project_ids.items?.pattern ?? '', 0);
    const body = { name: 'limited', scopes: scopes.items?.enum, project_ids: [project] };
    const headers = { authorization: `Bearer ${keys.all}`, 'content-type': 'application/json' };
    const wire = { method, path: template, headers, body: Buffer.from(JSON.stringify(body)) };
    const { json } = await send(origin, agent, wire);
    const { secret, project_ids: projects = [] } = (json ?? {}) as {
      secret?: string;
      project_ids?: string[];
    };
    if (secret) keys.limited = { secret, projects };
  }
}

function bearerToken({ keys, known }: Side, { actor, operation }: Draft, pick: number): string | undefined {
  const { all, byScope } = keys;
  const otherKeys = Object.entries(byScope).filter(
    ([scope]) => scope !== operation.scope && scope.replace('.manage', '.read') !== operation.scope,
  );
  const secrets: Record<Actor, string | undefined> = {
    all,
    exact: byScope[operation.scope ?? ''] ?? all,
    other: otherKeys[pick % Math.max(otherKeys.length, 1)]?.[1] ?? all,
    none: undefined,
    garbage: [
      'nonsense',
      'mst_',
      `${all.slice(0, -1)}${all.endsWith('x') ? 'y' : 'x'}`,
      all.toUpperCase(),
      `mst_${'0'.repeat(38)}`,
    ][pick % 5],
    revoked: keys.revoked,
    expired: keys.expired,
    limited: keys.limited?.secret ?? all,
    created: known.secret(pick) ?? all,
  };
  return secrets[actor];
}

const noResponse = (error: Error & { code?: string }): ServiceResponse => ({
  status: 0,
  headers: {},
  text: `no response: ${error.code ?? error.message}`,
  json: undefined,
});

function countStatus(outcome: Outcome, operation: string, status: number): void {
  const statuses = outcome.statuses.get(operation) ?? new Map<number, number>();
  outcome.statuses.set(operation, statuses.set(status, (statuses.get(status) ?? 0) + 1));
  outcome.requests++;
}
