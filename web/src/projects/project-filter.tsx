import { Choice, type ChoiceProps } from '../components/filters.tsx';
import { useProjects } from './queries.ts';

/** The filter of a list that goes across projects. */
export function ProjectChoice(props: Pick<ChoiceProps, 'value' | 'onChange'>) {
  const { data: projects = [] } = useProjects();
  const options = projects.map(({ key, name }) => [key, <bdi key={key}>{name}</bdi>] as const);
  return <Choice label="Project" options={options} {...props} />;
}
