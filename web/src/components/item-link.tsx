import { Fragment } from 'react';
import { Link } from 'wouter';
import { type ItemList, useItem } from '../api/items.ts';

type Props = { project: string; list: ItemList; id: string };

/** Links to the risk, the issue or the task with an id. */
export function ItemLink({ project, list, id }: Props) {
  const { data } = useItem(list, project, id);
  if (!data) return null;
  return (
    <Link href={`/${list}/${data.key}`}>
      {data.key} <bdi>{data.title}</bdi>
    </Link>
  );
}

/** The address that an item was imported from. The service accepts only http and https. */
export const SourceLink = ({ url }: { url: string }) => (
  <a className="source cut-off" href={url} title={url} rel="noreferrer">
    {url.replace(/^https?:\/\//, '')}
  </a>
);

/** An address that is too long for its line breaks after a slash rather than in a word. */
export const Address = ({ url }: { url: string }) =>
  url.split(/(?<=\/)(?!\/)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts never change their order
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));
