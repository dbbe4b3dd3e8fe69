import { type Static, Type } from 'typebox';
import { Id, Line, OneOf, OrNull, Reason, Strict, stamps, Text, Time, Writable } from '../../core/schemas.ts';
import { columnsOf, describeResource } from '../descriptor.ts';
import { Actor } from '../history/schema.ts';

const commentedTypes = ['project', 'risk', 'issue', 'task'] as const;
export type CommentedType = (typeof commentedTypes)[number];

const body = Text({
  description:
    'Markdown: emphasis, code, links, lists and quotes. Everything else, HTML included, is shown as plain text. Mention ' +
    'a person on the roster with `@` and the user id.',
  examples: ['The second supplier delivers in **March**.'],
});

export const Comment = Strict(
  {
    id: Id('comment'),
    project_id: Id('project'),
    subject_type: OneOf(commentedTypes),
    subject_id: Type.String({ description: 'The id of the project, risk, issue or task.' }),
    body,
    mentions: Type.Array(Strict({ user_id: Id('person'), name: Line() }), {
      description: 'The mentioned people who are still on the roster, by name.',
    }),
    author: Actor,
    author_key_id: OrNull(Id('key', { description: 'The same as `author.key_id`.' })),
    author_name: Line({ description: 'The same as `author.name`.' }),
    edited_at: OrNull(Time({ description: 'When the text was last changed; null if it never was.' })),
    ...stamps,
  },
  { $id: 'Comment' },
);
export type Comment = Static<typeof Comment>;

export const CommentInput = Writable(Comment, { body }, { $id: 'CommentInput' });
export type CommentInput = Static<typeof CommentInput>;

export const CommentPatch = Writable(
  Comment,
  { body: Type.Optional(body), reason: Type.Optional(Reason()) },
  { $id: 'CommentPatch' },
);
export type CommentPatch = Static<typeof CommentPatch>;

export const commentResource = describeResource({
  kind: 'comment',
  table: 'comments',
  id: 'id',
  tag: ['comments', 'Comments on projects, risks, issues and tasks.'],
  columns: columnsOf(Comment, ['author'], {
    mentions: Type.Array(Id('person')),
    author_user_id: OrNull(Id('person')),
  }),
  references: { project_id: 'projects', author_key_id: 'keys' },
  visible: { project: 'project_id' },
  events: {
    scope: 'projects.read',
    types: {
      created: 'A comment was written.',
      updated: 'A comment was edited.',
      deleted: 'A comment was deleted.',
    },
    data: Comment,
  },
});
