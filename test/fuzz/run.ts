import fc, { type Arbitrary } from 'fast-check';
import { watchLoop } from '../loop-stall.ts';
import { differences, type Told } from './differences.ts';
import { type Description, describe } from './document.ts';
import { type Actor, type ParsedRow, wireOf } from './draft.ts';
import { followUp } from './follow-up.ts';
import { recordResources } from './known.ts';
import { checkResponse } from './oracle.ts';
import { draftOf, type Plan, plansOf, rightPlansFor } from './plans.ts';
import { type Answer, asCurl, openAgent, send } from './send.ts';
import type { Side, Target } from './target.ts';

export type Options = {
  seed: number;
  requests: number;
  /** How many requests are under way at a time. More than one cannot be compared between services. */
  atOnce?: number;
  /** Called before each step; makes the services' clock go on. */
  tick?: () => void;
  onProgress?: (done: number) => void;
  /** Distinct errors after which the run ends. */
  maxFailures?: number;
};

export type Failure = { error: string; request: number; curl: string; answer: string };
export type Outcome = {
  requests: number;
  /** How often each operation was answered with each status, by the first target. */
  statuses: Map<string, Map<number, number>>;
  failures: Failure[];
};

/**
 * All services and the fuzzer share one event loop, so this tells only what takes far too long;
 * `src/http/hostile.test.ts` holds each route to the exact bound.
 */
const maxStallMs = 1000;

/** How often a failing request is tried in a smaller form. */
const maxAttempts = 200;

/** What makes two failures the same one. */
class FieldError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(`${failure.error}\n${failure.curl}\n${failure.answer}`);
    this.failure = failure;
  }

  static signature = (operation: string, error: string) =>
    `${/not documented/.test(error) ? operation : ''}: ${error.replace(/"[^"]*"|“[^”]*”|\d{4,}|[a-z]{3}_[0-9a-v]{26}|\(.*\)/g, '…').slice(0, 160)}`;
}

/**
 * Sends requests made from the services' own OpenAPI document, right ones and wrong ones, and judges every answer.
 * With several services each gets the same requests, and their answers must agree.
 */
export async function fuzz(targets: [Target, ...Target[]], options: Options): Promise<Outcome> {
  const { seed, requests, atOnce = 1, tick = () => {}, onProgress = () => {}, maxFailures = 10 } = options;
  const description = describe(await documentOf(targets[0]));
  const sides: Side[] = targets.map((target) => ({
    ...target,
    known: recordResources(description, [target.keys.id]),
    agent: openAgent(),
  }));
  const outcome: Outcome = { requests: 0, statuses: new Map(), failures: [] };
  const seen = new Set<string>();
  let wanted: string | undefined;
  let attempts = 0;

  async function step(plans: Plan[]): Promise<void> {
    tick();
    // All of them end before anything else begins, also when one fails.
    const results = await Promise.allSettled(plans.map(one));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  async function one(plan: Plan): Promise<void> {
    const answers = await Promise.all(sides.map((side) => tell(side, plan)));
    if (wanted === undefined) count(outcome, plan.operation.name, answers[0]?.answer.status ?? 0);
    const errors = answers.flatMap(({ errors }) => errors);
    if (atOnce === 1 && errors.length === 0) errors.push(...differences(answers));
    for (const error of errors) {
      const signature = FieldError.signature(plan.operation.name, error);
      if (seen.has(signature) || (wanted !== undefined && wanted !== signature)) continue;
      wanted = signature;
      const { wire, answer } = answers.find((told) => told.errors.includes(error)) ?? (answers[0] as Told);
      throw new FieldError({
        error: `${plan.operation.name}: ${error}`,
        request: outcome.requests,
        curl: asCurl(wire),
        answer: `${answer.status} ${answer.text.slice(0, 1500)}`,
      });
    }
  }

  async function tell(side: Side, plan: Plan): Promise<Told> {
    const draft = draftOf(plan, side.known);
    const wire = wireOf(draft, bearerToken(side, draft, plan.pick));
    const loop = draft.isOversized && watchLoop();
    const answer = await send(side.origin, side.agent, wire).catch(noAnswer);
    const errors = errorsOf(side, draft, answer);
    if (loop) {
      const stallMs = loop.takeLongestMs();
      loop.stop();
      if (stallMs > maxStallMs) errors.push(`holds the event loop for ${Math.round(stallMs)} ms`);
    }
    // While a failure is made smaller, what is known stays as it was.
    if (wanted === undefined && draft.isPlaced)
      side.known.learn(plan.operation, draft.params, answer, plan.pick);
    if (errors.length === 0 && atOnce === 1) {
      const told = { side, plan, draft, wire, answer };
      errors.push(...(await followUp(told).catch((error) => [noAnswer(error).text])));
    }
    return { side, draft, wire, answer, errors };
  }

  function errorsOf(side: Side, draft: ParsedRow, answer: Answer): string[] {
    if (answer.status === 0) return [answer.text];
    try {
      return checkResponse(description, side, draft, answer);
    } catch (error) {
      return [`cannot be read: ${error instanceof Error ? error.message : error}`];
    }
  }

  await sow(description, sides, seed, tick);
  for (const side of sides) await limitKey(description, side);
  const plans = plansOf(description.operations);
  let round = 0;
  while (outcome.requests < requests && outcome.failures.length < maxFailures) {
    wanted = undefined;
    attempts = 0;
    const steps = Math.ceil((requests - outcome.requests) / atOnce);
    const property = fc.asyncProperty(
      fc.array(plans, { minLength: atOnce, maxLength: atOnce }),
      async (burst) => {
        if (wanted !== undefined && ++attempts > maxAttempts) return;
        await step(burst);
        onProgress(outcome.requests);
      },
    );
    const result = await fc.check(property, { seed: seed + round, numRuns: steps });
    if (!result.failed) break;
    if (!(result.errorInstance instanceof FieldError))
      throw result.errorInstance ?? new Error('The run was interrupted.');
    outcome.failures.push(result.errorInstance.failure);
    if (wanted !== undefined) seen.add(wanted);
    round++;
  }
  for (const { agent } of sides) agent.destroy();
  return outcome;
}

async function documentOf({ origin }: Target): Promise<object> {
  const response = await fetch(`${origin}/v1/openapi.json`);
  return (await response.json()) as object;
}

/** Makes some of everything that can be made, so that there is something to ask for from the start. */
async function sow(
  { operations }: Description,
  sides: Side[],
  seed: number,
  tick: () => void,
): Promise<void> {
  const makers = operations.filter(({ method, responses }) => method === 'POST' && responses[201]);
  // What stands at the top of the paths first: the others are made inside of it.
  makers.sort((a, b) => a.template.split('/').length - b.template.split('/').length);
  for (let round = 0; round < 3; round++) {
    for (const operation of makers) {
      const plans = fc.sample(rightPlansFor(operation, operations) as Arbitrary<Plan>, {
        seed: seed + round,
        numRuns: 4,
      });
      for (const plan of plans) {
        tick();
        await Promise.all(
          sides.map(async ({ origin, agent, known, keys }) => {
            const draft = draftOf(plan, known);
            const answer = await send(origin, agent, wireOf(draft, keys.all));
            known.learn(operation, draft.params, answer, 1);
          }),
        );
      }
    }
  }
}

/** A key for one project, where a key can be limited so: then it must never see another. */
async function limitKey({ operations }: Description, { origin, agent, known, keys }: Side): Promise<void> {
  for (const { method, template, requestBody } of operations) {
    const { project_ids, scopes } = requestBody?.content['application/json']?.schema?.properties ?? {};
    if (method !== 'POST' || !project_ids || !scopes) continue;
    const projects = [known.refer(project_ids.items?.pattern ?? '', 0)];
    const body = { name: 'limited', scopes: scopes.items?.enum, project_ids: projects };
    const headers = { authorization: `Bearer ${keys.all}`, 'content-type': 'application/json' };
    const wire = { method, path: template, headers, body: Buffer.from(JSON.stringify(body)) };
    const { secret } = ((await send(origin, agent, wire)).json ?? {}) as { secret?: string };
    if (secret) keys.limited = { secret, projects };
  }
}

function bearerToken(
  { keys, known }: Side,
  { actor, operation }: ParsedRow,
  pick: number,
): string | undefined {
  const { all, byScope } = keys;
  const others = Object.entries(byScope).filter(
    ([scope]) => scope !== operation.scope && scope.replace('.manage', '.read') !== operation.scope,
  );
  const secrets: Record<Actor, string | undefined> = {
    all,
    exact: byScope[operation.scope ?? ''] ?? all,
    other: others[pick % Math.max(others.length, 1)]?.[1] ?? all,
    none: undefined,
    garbage: ['nonsense', 'mst_', `${all.slice(0, -1)}x`, all.toUpperCase(), `mst_${'0'.repeat(38)}`][
      pick % 5
    ],
    revoked: keys.revoked,
    expired: keys.expired,
    limited: keys.limited?.secret ?? all,
    made: known.secret(pick) ?? all,
  };
  return secrets[actor];
}

const noAnswer = (error: Error & { code?: string }): Answer => ({
  status: 0,
  headers: {},
  text: `no answer: ${error.code ?? error.message}`,
  json: undefined,
});

function count(outcome: Outcome, operation: string, status: number): void {
  const statuses = outcome.statuses.get(operation) ?? new Map<number, number>();
  outcome.statuses.set(operation, statuses.set(status, (statuses.get(status) ?? 0) + 1));
  outcome.requests++;
}
