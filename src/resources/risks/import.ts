import { sql } from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { Importable } from '../../transfer/importable.ts';
import { createRisks, updateRisk } from './queries.ts';
import { riskList } from './register.ts';
import { type Risk, RiskInput, RiskPatch } from './schema.ts';

export const riskImport = (
  project: { id: string; key: string },
  moment: Moment,
): Importable<Risk, typeof RiskInput, typeof RiskPatch> => ({
  what: 'risk',
  input: RiskInput,
  patch: RiskPatch,
  existing: riskList(
    { filters: { project: [project.id], status: ['all'] }, moment, as_of: undefined },
    'rank',
  ),
  keys: [
    { field: 'id', column: sql.ref('risks.id') },
    { field: 'external_id', column: sql.ref('risks.external_id') },
    { field: 'key', column: sql.ref('risks.key') },
  ],
  project,
  synonyms: {
    title: ['risk', 'risk title', 'name', 'risk name', 'summary', 'event'],
    description: ['details', 'risk description', 'notes', 'cause and effect'],
    kind: ['type', 'risk type'],
    category: ['risk category', 'area'],
    probability: ['likelihood', 'chance', 'current probability', 'inherent likelihood'],
    impact: ['severity', 'consequence', 'current impact', 'inherent impact'],
    residual_probability: ['residual likelihood', 'target probability'],
    residual_impact: ['residual severity', 'target impact'],
    status: ['state', 'risk status'],
    strategy: ['response', 'response strategy', 'treatment', 'response type'],
    response_plan: [
      'mitigation',
      'mitigation plan',
      'response actions',
      'treatment plan',
      'actions',
      'controls',
    ],
    contingency_plan: ['contingency', 'fallback', 'fallback plan'],
    trigger: ['triggers', 'early warning', 'indicator'],
    owner_name: ['risk owner', 'responsible', 'assigned to'],
    raised_by_user_id: ['raised by', 'reported by', 'identified by', 'reporter', 'author'],
    raised_on: ['raised', 'date raised', 'identified on', 'date identified', 'created', 'opened'],
    due_on: ['due', 'due date', 'target date', 'deadline'],
    review_on: ['review', 'review date', 'next review'],
    closure_reason: ['reason for closure', 'closed because'],
    lessons: ['lessons learned', 'lessons learnt'],
    external_id: ['risk id', 'reference', 'ref', 'number', 'no'],
    source_url: ['url', 'link', 'source'],
  },
  create: (db, inputs, change) => createRisks(db, project.id, inputs, change),
  update: updateRisk,
});
