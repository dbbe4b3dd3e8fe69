import { type Static, Type } from 'typebox';
import { Day, Id, Line, OneOf, OrNull, Strict, stamps, Text } from '../schemas.ts';

export const Task = Strict(
  {
    id: Id('task'),
    key: Type.String({ description: 'The human key.', examples: ['APOLLO-T12'] }),
    project_id: Id('project'),
    project_key: Type.String({ examples: ['APOLLO'] }),
    project_name: Line(),
    title: Line(),
    description: OrNull(Text()),
    kind: OneOf(['work', 'mitigation', 'resolution'], { default: 'work' }),
    status: OneOf(['todo', 'in_progress', 'blocked', 'done', 'cancelled'], { default: 'todo' }),
    assignee_user_id: OrNull(Id('person', { description: 'Must be assignable.' })),
    assignee_name: OrNull(Line()),
    start_on: OrNull(Day()),
    due_on: OrNull(Day()),
    risk_id: OrNull(Id('risk')),
    issue_id: OrNull(Id('issue')),
    external_id: OrNull(Line()),
    ...stamps,
  },
  { $id: 'Task' },
);
export type Task = Static<typeof Task>;
