-- The first 50 risks of the register as one JSON text: a hand-written query for this page only.
-- The rank is the position in the list, so the rows do not contain it.
select json_group_array(json(risk)) as data
from (
  select json_object(
    'id', r.id, 'key', r.key, 'project_id', r.project_id, 'project_key', p.key, 'project_name', p.name,
    'title', r.title, 'description', r.description, 'kind', r.kind, 'category', r.category,
    'probability', r.probability, 'impact', r.impact, 'score', r.score, 'level', r.level,
    'residual_probability', r.residual_probability, 'residual_impact', r.residual_impact,
    'residual_score', r.residual_score, 'residual_level', r.residual_level, 'initial_score', r.initial_score,
    'status', r.status, 'strategy', r.strategy, 'response_plan', r.response_plan,
    'contingency_plan', r.contingency_plan, 'trigger', r.trigger, 'owner_user_id', r.owner_user_id,
    'owner_group_id', r.owner_group_id, 'raised_by_user_id', r.raised_by_user_id, 'raised_on', r.raised_on,
    'due_on', r.due_on, 'review_on', r.review_on, 'external_id', r.external_id, 'source_url', r.source_url,
    'attributes', json(r.attributes), 'owner_name', coalesce(o.name, g.name),
    'owner_active', json(case when o.status = 'active' then 'true' when o.status is not null then 'false' end),
    'accepted_until', r.accepted_until, 'acceptance_reason', r.acceptance_reason,
    'accepted_by_user_id', r.accepted_by_user_id,
    'issue_ids', (select json_group_array(id order by id) from issues where risk_id = r.id),
    'tasks_total', (select count(*) from tasks where risk_id = r.id),
    'tasks_done', (select count(*) from tasks where risk_id = r.id and status = 'done'),
    'checks', json('[' || rtrim(
      iif(r.score is null, '"unassessed",', '')
      || iif(r.owner_user_id is null and r.owner_group_id is null, '"unowned",', '')
      || iif(o.status = 'inactive', '"owner_inactive",', '')
      || iif(r.review_on < :today, '"review_overdue",', '')
      || iif(r.due_on < :today, '"due_overdue",', '')
      || iif(r.status <> 'accepted' and r.response_plan is null, '"no_response_plan",', '')
      || iif(r.residual_score > coalesce(r.score, 25), '"residual_above_current",', '')
      || iif(r.status = 'accepted' and r.accepted_until <= date(:today, '+30 days'), '"acceptance_expiring",', '')
      || iif(r.score > p.appetite, '"above_appetite",', '')
      || iif(r.updated_at < date(:today, '-90 days'), '"stale_90d",', ''), ',') || ']'),
    'closure_reason', r.closure_reason, 'lessons', r.lessons,
    'model_version', (select coalesce(max(version), 1) from risk_models),
    'web_url', :base_url || '/risks/' || r.key, 'version', r.version,
    'created_at', r.created_at, 'updated_at', r.updated_at
  ) as risk
  from risks r
  join projects p on p.id = r.project_id
  left join people o on o.user_id = r.owner_user_id
  left join groups g on g.id = r.owner_group_id
  where r.active = 1 and p.archived_at is null
  order by r.rank_key
  limit 50
)
