import type { Language } from './language.ts';

export const english: Language = {
  nobody:
    'tbd, tba, tbc, to be defined, to be decided, to be determined, to be confirmed, to be assigned, n/a, n.a., na, none, null, nil, nobody, no one, noone, not assigned, unassigned, not set, not applicable, blank, empty, no manager, no owner, no assignee, no lead, vacant',
  statusWords:
    'status, state, lifecycle, active, inactive, enabled, disabled, blocked, suspended, terminated, archived, deleted',
  projectColumns: 'project, project_name',
  firstName: 'first name, given name, forename',
  lastName: 'last name, surname, family name',
  inactive: {
    columns:
      'block sign in, block sign in (yes/no) [accountenabled] required, blocked, is blocked, sign in blocked, disabled, is disabled, account disabled, suspended, is suspended, terminated, is terminated, archived, is archived, deleted, is deleted, inactive, is inactive, deactivated',
    yes: 'yes, true, 1, y, x, blocked, disabled, suspended, terminated, archived, deleted',
    no: 'no, false, 0, n',
  },
  rejected: 'rejected, removed, wont do, declined, wont fix',
  probability: {
    1: 'rare, very low, vl, very unlikely, remote, improbable, highly unlikely, almost impossible',
    2: 'unlikely, low, l, seldom',
    3: 'possible, medium, m, med, moderate, average, occasional, even chance, about even',
    4: 'likely, high, h, probable, frequent',
    5: 'almost certain, very high, vh, very likely, certain, highly likely, near certain, expected',
  },
  impact: {
    1: 'negligible, very low, vl, insignificant, trivial, very minor',
    2: 'minor, low, l, marginal',
    3: 'medium, m, med, moderate, average, serious',
    4: 'major, high, h, significant',
    5: 'severe, very high, vh, catastrophic, critical, extreme, extreme/catastrophic, disastrous',
  },
  levels: {
    low: 'low, l, very low, green, minor',
    medium: 'medium, m, med, moderate, average, amber, yellow',
    high: 'high, h, red, major, orange',
    critical: 'critical, extreme, very high, severe, catastrophic',
  },
  person: {
    sheets: 'people, person, staff, employee, user, member, roster, personnel',
    columns: {
      name: 'full name, display name, employee name, employee, person, member, worker, staff member, last name first name',
      email:
        'e-mail address, work e-mail, company e-mail, business e-mail, mail, e-mail id, primary e-mail, primary work e-mail, e-mail primary work, mail',
      title: 'job title, position, business title, role, function, designation, position',
      department: 'dept, department name, division, business unit, cost center name, organization',
      location: 'office, office location, work location, site, city, location name',
      phone:
        'work phone, telephone, telephone number, phone number, business phone, mobile, mobile phone, primary phone',
      time_zone: 'tz',
      kind: 'person type, employee type, worker type, employment type, user type, type',
      manager_user_id:
        'reports to, reporting to, line manager, supervisor, boss, manager e-mail, manager name, workers manager',
      accountable_user_id: 'accountable to, responsible human',
      skills: 'skill, competencies, tags',
      start_on: 'start date, start, hired, hire date, hired on, joined, joining date, first day',
      end_on: 'end date, end, leaving date, last day, termination date, contract end, contract end date',
      status:
        'employment status, employee status, worker status, account enabled, active, is active, enabled, state, account status, user status, overall status, lifecycle status, lifecycle state, user account control',
      external_id:
        'employee id, employee number, employee no, staff id, staff number, personnel number, worker id, payroll number, hr id',
    },
    values: {
      status: {
        active:
          'on leave, leave, leave of absence, parental leave, maternity leave, paid leave, enabled, true, yes, current, employed, onboarding, provisioned, password expired, locked out, recovery, hired, 1, y, probation, full time, part time, 512, 66048',
        inactive:
          'terminated, left, leaver, disabled, false, no, former, resigned, retired, deprovisioned, suspended, offboarded, staged, 0, n, blocked, deactivated, dismissed, archived, deleted, exited, departed, separated, offboarding completed, no longer employed, 514, 66050',
      },
      kind: {
        human:
          'employee, internal, member, full time, part time, permanent, regular, staff, person, intern, temporary, fixed term, apprentice, working student, salaried, hourly, intern, salaried,full-time, salaried,part-time, hourly,full-time, hourly,part-time',
        external:
          'contractor, contingent worker, guest, freelancer, freelance, consultant, vendor, partner, supplier, agency',
        agent: 'bot, service account, robot, ai agent, service',
        placeholder: 'vacancy, vacant, tbh, open position, generic',
        null: 'terminated',
      },
    },
  },
  group: {
    sheets: 'group, team',
    columns: {
      name: 'group, group name, team, team name, unit',
      description: 'purpose, notes, about',
      parent_id: 'parent group, part of, belongs to',
      lead_user_id: 'group lead, team lead, leader, head, lead e-mail',
      member_user_ids: 'members, member, people, person, email, e-mail address, employee, user',
      external_id: 'group id, team id, reference',
    },
  },
  project: {
    sheets: 'project, programme, portfolio',
    columns: {
      key: 'project key, code, short name',
      name: 'project, project name, title',
      description: 'summary, notes, goal',
      status: 'state, project status, phase',
      lead_user_id: 'project lead, project manager, owner, responsible',
      start_on: 'start date, start, begins',
      due_on: 'due date, due, end date, end, deadline, target date, finish',
      appetite: 'risk appetite, risk threshold',
      external_id: 'project id, reference',
    },
    values: {
      status: {
        planned: 'planning, not started, proposed, new, pipeline, initiation, draft',
        active:
          'in progress, ongoing, open, started, running, on track, at risk, off track, green, amber, red',
        on_hold: 'paused, suspended, waiting, deferred',
        completed: 'complete, done, closed, finished, delivered',
        cancelled: 'canceled, stopped, terminated, rejected',
      },
    },
  },
  risk: {
    sheets: 'risk',
    columns: {
      title:
        'risk, risk title, name, risk name, summary, short description, event, risk event, headline, primary column',
      description: 'risk description, details, risk statement, cause and effect, notes, comments',
      kind: 'type, risk type',
      category: 'risk category, area',
      probability:
        'likelihood, likelihood rating, probability of occurrence, chance, current likelihood, inherent likelihood, inherent probability, prob, l, p',
      impact:
        'impact rating, consequence, consequences, severity, current impact, inherent impact, inherent consequence, i',
      residual_probability: 'residual likelihood, target probability, target likelihood',
      residual_impact: 'residual severity, target impact, residual consequence',
      score: 'rating, risk score, risk rating, inherent rating, exposure, pxi, lxi, severity score',
      level: 'risk level, rag, rag status, grade, risk grade',
      status: 'state, risk status, current status',
      strategy:
        'response category, risk response category, response strategy, planning strategy, response type, treatment strategy, treatment option, response, treatment, risk response, risk treatment',
      response_plan:
        'mitigation, mitigation plan, mitigations, mitigation action, mitigation actions, mitigating actions, mitigation strategy, response plan, action plan, response actions, treatment plan, actions, controls',
      contingency_plan: 'contingency, fallback, fallback plan',
      trigger: 'triggers, early warning, indicator',
      owner_name:
        'risk owner, responsible, assigned to, responsible person, assignee, response owner, action owner',
      raised_by_user_id: 'raised by, reported by, identified by, submitted by, reporter, author',
      raised_on:
        'raised, date raised, identified on, identified date, date identified, created, opened, date, logged, registered, created on, created date, creation date, date created, date opened, opened on, opened at, open date, date logged, logged on, date registered, registered on, date submitted, submitted on, submission date, date entered, sys created on',
      due_on:
        'due, due date, date due, target date, deadline, target completion, target closure, target closure date, resolve by, resolve by date, proximity date',
      review_on: 'review, review date, next review, next review date',
      closure_reason: 'reason for closure, closed because',
      lessons: 'lessons learned, lessons learnt',
      external_id:
        'risk id, risk identifier, risk no, risk number, reference, ref, number, no, risk ref, record id',
      source_url: 'url, link',
    },
    values: {
      status: {
        open: 'new, draft, identified, active, live, raised, proposed, to do, assessed, ongoing',
        mitigating:
          'in progress, treating, in treatment, being treated, being mitigated, mitigation in progress, in mitigation, responding, managed',
        monitoring: 'monitor, monitored, watch, watching, under review, in review, on hold, dormant',
        accepted: 'accept, tolerated, tolerate',
        materialized: 'materialised, occurred, realized, realised, became issue, issue, triggered',
        closed: 'close, done, resolved, retired, expired, complete, completed, cancelled, mitigated',
      },
      strategy: {
        avoid: 'avoidance, eliminate, terminate, prevent',
        mitigate: 'mitigation, reduce, reduction, treat, control',
        transfer: 'transference, insure, outsource',
        accept: 'acceptance, tolerate, retain, take',
        escalate: 'escalation',
        exploit: 'exploitation',
        enhance: 'enhancement, increase',
        share: 'sharing',
        null: 'none, n/a, tbd, na',
      },
      kind: {
        threat: 'risk, negative, downside',
        opportunity: 'positive, upside, benefit',
      },
    },
  },
  issue: {
    sheets: 'issue, problem',
    columns: {
      title:
        'issue, issue title, name, summary, subject, problem, short description, headline, primary column',
      description: 'issue description, details, body, notes, comments',
      severity: 'impact, level, issue severity',
      priority: 'urgency, issue priority',
      status: 'state, issue status, current status',
      resolution: 'resolution type, resolution code, close code, outcome',
      resolution_note:
        'resolution notes, resolution note, resolution details, resolution description, close notes, how resolved, action taken',
      owner_name: 'issue owner, responsible, responsible person, action owner',
      assignee_name: 'assigned to, assigned, assign, assignees, owned by',
      raised_by_user_id: 'raised by, reported by, created by, reporter, author, caller, caller id',
      raised_on:
        'raised, date raised, reported on, created, opened, date, logged, date reported, open date, created on, created date, creation date, date created, date opened, opened on, opened at, date logged, logged on, date registered, registered on, date submitted, submitted on, date entered, sys created on',
      due_on:
        'due, due date, date due, target date, deadline, target resolution date, target closure, target closure date, resolve by',
      blocked_reason: 'blocked by, blocker',
      risk_id: 'risk key, from risk',
      external_id: 'issue id, issue no, issue number, reference, ref, number, no, ticket, issue key',
      source_url: 'url, link, source',
    },
    values: {
      status: {
        open: 'new, to do, todo, opened, reopened, backlog, unassigned, triage, raised, proposed, scheduled, selected for development, confirmed, in specification, not started, draft',
        in_progress:
          'active, doing, working on it, started, ongoing, work in progress, wip, in review, in testing, in development, developed, feedback, assigned, investigating, under investigation, escalated, committed, code review, testing, ready for test',
        blocked:
          'on hold, waiting, pending, stalled, impeded, deferred, awaiting info, awaiting problem, waiting for customer, parked',
        resolved: 'fixed, done, complete, completed, solved, tested',
        closed: 'close, cancelled, canceled, merged, test failed',
      },
      severity: {
        critical: 'very high, vh, blocker, showstopper, catastrophic, severe, extreme, 1, s1, sev 1, sev1',
        high: 'h, major, significant, 2, s2, sev 2, sev2',
        medium: 'm, med, moderate, normal, average, 3, s3, sev 3, sev3',
        low: 'l, minor, trivial, very low, vl, cosmetic, negligible, 4, 5, s4, sev 4, sev4',
      },
      priority: {
        urgent: 'highest, immediate, critical, blocker, very high, p0, p1, 1, emergency, asap, showstopper',
        high: 'h, major, p2, 2, important',
        normal: 'medium, m, med, moderate, p3, 3, default, standard, no priority',
        low: 'l, minor, lowest, trivial, p4, p5, 4, 5, very low, low priority, planning',
      },
      resolution: {
        fixed:
          'done, complete, completed, resolved, implemented, solved, closed, fixed and verified, verified, code complete, work finished, acceptance tests pass, solved (permanently), solved remotely (permanently)',
        workaround:
          'work around, worked around, mitigated, solved (work around), solved remotely (work around)',
        wont_fix:
          'wont do, wont fix, wontfix, declined, rejected, deferred, obsolete, known error, not planned, removed from the backlog, cut, abandoned, not solved (too costly)',
        duplicate: 'duplicated',
        not_an_issue:
          'invalid, cannot reproduce, not a bug, works as designed, as designed, incomplete, not an error, by design, not solved (not reproducible)',
        null: 'unresolved, none, n/a, new, approved, build failure, investigate, investigation complete, test failed, not fixed, regression, reactivated, resolved in error, implementation started, acceptance tests fail, commitment made by the team, work started, work stopped, additional work found, reconsidering',
      },
    },
  },
  task: {
    sheets: 'task, action, todo, to do, work item',
    columns: {
      title:
        'task, task title, name, task name, summary, action, action item, subject, to do, primary column',
      description: 'task description, details, notes, comments, body',
      kind: 'type, task type',
      status: 'state, task status, progress, percent complete, percent done, completed, done',
      assignee_name:
        'assigned to, assigned, assign, owner, responsible, who, resource names, action owner, assignees',
      start_on: 'start, start date, begins, planned start, timeline start',
      due_on:
        'due, due date, date due, due by, by when, end date, target date, deadline, finish, finish date, end, planned finish, timeline end',
      risk_id: 'risk key',
      issue_id: 'issue key',
      external_id:
        'task id, action id, action no, action number, task no, task number, reference, ref, number, no, ticket, wbs',
    },
    values: {
      status: {
        todo: 'to do, open, new, not started, backlog, planned, scheduled, proposed, in specification, false, no, future task, reopened, selected for development',
        in_progress:
          'active, doing, working on it, started, ongoing, wip, work in progress, in review, in testing, in development, developed, on schedule, late, feedback, committed, code review',
        blocked: 'on hold, waiting, pending, stalled, impeded, deferred, stuck, waiting on someone else',
        done: 'complete, completed, closed, resolved, finished, true, yes, x, fixed, tested',
        cancelled: 'canceled, rejected, removed, wont do, dropped, declined, obsolete',
      },
      kind: {
        work: 'task, story, feature, user story, epic, sub task, subtask, bug, improvement, new feature, milestone, support, action, product backlog item',
      },
    },
  },
};
