import { newId } from '../../core/ids.ts';
import { actorOf, type Change } from '../../store/writes/change.ts';
import type { Risk } from '../risks/schema.ts';
import type { Event } from './schema.ts';

/** An event about an invented risk whose level was raised, with everything that a real event has. It is in no event log. */
export function sampleEvent(change: Change, baseUrl: string): Omit<Event, 'type'> & { type: string } {
  const { now } = change;
  const risk = sampleRisk(change, baseUrl);
  const { id, key, web_url } = risk;
  return {
    // By the clock, as those of real events, so that it tells nothing about them.
    sequence: Date.parse(now) * 1000,
    id: newId('event'),
    type: 'webhook.test',
    also: [],
    at: now,
    actor: actorOf(change),
    subject: { type: 'risk', id, key, web_url },
    data: risk,
    previous: { probability: 3, score: 15, level: 'high' },
  };
}

const suffix = '01jd3k9m5vqs8h2n6r4t0c7e1b';

const sampleRisk = ({ now, today }: Change, baseUrl: string): Risk => ({
  id: `rsk_${suffix}`,
  key: 'APOLLO-R7',
  project_id: `prj_${suffix}`,
  project_key: 'APOLLO',
  project_name: 'Apollo',
  title: 'The only supplier of valves is on strike',
  description: 'Without valves, assembly stops after two weeks.',
  kind: 'threat',
  category: 'supply',
  probability: 4,
  impact: 5,
  score: 20,
  level: 'critical',
  residual_probability: 2,
  residual_impact: 4,
  residual_score: 8,
  residual_level: 'medium',
  initial_score: 15,
  status: 'mitigating',
  strategy: 'mitigate',
  response_plan: 'Qualify a second supplier.',
  contingency_plan: null,
  trigger: 'The union announces another vote.',
  owner_user_id: `usr_${suffix}`,
  owner_group_id: null,
  raised_by_user_id: null,
  raised_on: today,
  due_on: null,
  review_on: null,
  external_id: null,
  source_url: null,
  attributes: {},
  owner_name: 'Ada Lovelace',
  owner_active: true,
  accepted_until: null,
  acceptance_reason: null,
  accepted_by_user_id: null,
  issue_ids: [],
  tasks_total: 2,
  tasks_done: 1,
  checks: ['above_appetite'],
  closure_reason: null,
  lessons: null,
  model_version: 1,
  web_url: `${baseUrl}/risks/APOLLO-R7`,
  version: 2,
  created_at: now,
  updated_at: now,
});
