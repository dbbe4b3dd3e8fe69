import { type QueryClient, useQuery } from '@tanstack/react-query';
import { fetchFrom } from '../api/client.ts';
import type { Comment, HistoryEntry } from '../api/openapi.ts';

/** What has a history, and perhaps comments. `path` is its path in the API; the paths of both follow it. */
export type Subject = { id: string; path: string };

const readList = async <Row>(path: string): Promise<Row[]> => {
  const response = await fetchFrom(path);
  return ((await response.json()) as { data: Row[] }).data;
};

export const useComments = ({ id, path }: Subject) =>
  useQuery({ queryKey: ['comments', id], queryFn: () => readList<Comment>(`${path}/comments`) });

export const useChanges = ({ id, path }: Subject) =>
  useQuery({ queryKey: ['history', id], queryFn: () => readList<HistoryEntry>(`${path}/history`) });

async function write(
  method: 'POST' | 'PATCH',
  path: string,
  { body, headers }: { body: string; headers: Record<string, string> },
): Promise<Comment> {
  const response = await fetchFrom(path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ body }),
  });
  return response.json();
}

/** With the same idempotency key and text, a repeated request has no further effect. */
export const createComment = ({ path }: Subject, body: string, idempotencyKey: string) =>
  write('POST', `${path}/comments`, { body, headers: { 'idempotency-key': idempotencyKey } });

export const updateComment = ({ path }: Subject, id: string, body: string, version: number) =>
  write('PATCH', `${path}/comments/${id}`, { body, headers: { 'if-match': `"${version}"` } });

export const deleteComment = ({ path }: Subject, { id, version }: Comment) =>
  fetchFrom(`${path}/comments/${id}`, { method: 'DELETE', headers: { 'if-match': `"${version}"` } });

/** Shows a written comment before the list is read again. */
export const showComment = (client: QueryClient, subject: Subject, comment: Comment) =>
  client.setQueryData<Comment[]>(['comments', subject.id], (comments = []) =>
    comments.some(({ id }) => id === comment.id)
      ? comments.map((one) => (one.id === comment.id ? comment : one))
      : [...comments, comment],
  );
