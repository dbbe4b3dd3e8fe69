import { FilterMenu, type FilterMenuProps } from '../components/filters.tsx';
import { useProjects } from './queries.ts';

/** Filters a list across projects by project. */
export function ProjectFilter(props: Pick<FilterMenuProps, 'value' | 'onChange'>) {
  const { data: projects = [] } = useProjects();
  const options = projects.map(({ key, name }) => [key, name] as const);
  return <FilterMenu label="Project" options={options} {...props} />;
}
